import type { BackendSearch, BackendSearchOptions } from "../connect/backend-search.js";
import type { Bootstrap, BootstrapOptions } from "../connect/bootstrap.js";
import type { ListGateways } from "../connect/gateway-list.js";
import type { GatewaySearch, GatewaySearchOptions } from "../connect/gateway-search.js";
import type { openImprov } from "../connect/open-improv.js";
import type { Setup, SetupOptions } from "../connect/open-setup.js";
import type { ServedTransport } from "../connect/served-transport.js";
import type { Conversation, ConversationOptions } from "../conversation/conversation.js";
import type { Board, Http } from "../hardware/hardware.js";
import type { Words } from "../language/en.js";
import type { ExchangeOptions } from "../net/http-exchange.js";
import type { Direct, DirectOptions } from "../net/open-direct.js";
import type { PowerOptions } from "../power/open-power.js";
import type { MqttTransport, MqttTransportOptions } from "../protocols/mqtt-transport.js";
import type { SettingValue } from "../settings/settings-table.js";
import type { HardwareTool } from "../tools/support/define-tool.js";
import type { FirmwareInstaller, FirmwareInstallerOptions } from "../update/firmware-installer.js";
import type { rollBack, Trial, TrialOptions } from "../update/trial.js";
import type { ApplicationOptions, Power } from "./application-options.js";
import type { ModToolsOptions } from "./mod-tools.js";
import type { observedInstaller } from "./observed-installer.js";

/** Optional parts of `startFirmware`, which a build may leave out. */
export interface Addons {
	/** Asks a server for the backend: the setting `otaUrl`. */
	readonly bootstrap: (options: Omit<BootstrapOptions, "hmacSha256">) => Bootstrap;
	/** Talks with the backend's assistant by text. */
	readonly conversation: (options: ConversationOptions) => Conversation;
	/** Serves MCP clients without a backend between: the setting `http`. */
	readonly direct: (options: DirectOptions) => Direct | undefined;
	/** Finds gateways that announce themselves: for `mdns:` as the setting `backend`, or for a list to choose from. */
	readonly discovery: {
		readonly search: (options: Omit<GatewaySearchOptions, "openDnsSd">) => GatewaySearch;
		readonly list: ListGateways;
	};
	/** The part `http`. */
	readonly http: (options: ExchangeOptions) => Http;
	/** The device's words in each language. */
	readonly language: Readonly<Record<SettingValue<"language">, Words>>;
	/** Adds the tools of the mod that is installed beside the firmware. */
	readonly mods: (options: Omit<ModToolsOptions, "mod">) => readonly HardwareTool[];
	/** Backends over MQTT. */
	readonly mqtt: (options: MqttTransportOptions) => MqttTransport;
	/** Saves power while nobody uses the device. */
	readonly power: (options: PowerOptions) => Power;
	/** For what finds the backend: `bootstrap`, `discovery`; and for a device that serves clients without one. */
	readonly search: {
		readonly begin: (options: BackendSearchOptions) => BackendSearch;
		/** The transport of a backend that becomes known later. */
		readonly transport: (maxMessageBytes: number) => ServedTransport;
	};
	/** Sets the device up with a phone. */
	readonly setup: (options: SetupOptions) => Setup | undefined;
	/** Installs firmware over the air. */
	readonly update: {
		readonly installer: (options: FirmwareInstallerOptions) => FirmwareInstaller;
		/** Wraps an installer so that person and application are told. */
		readonly observe: typeof observedInstaller;
		readonly trial: (options: TrialOptions) => Trial;
		readonly rollBack: typeof rollBack;
	};
}

/**
 * Optional parts besides tools. Each is the default export of the module of its name in `src/addons`, and undefined if
 * no manifest of the build names that module.
 */
export interface BuildAddons extends Partial<Addons> {
	/** Lets a computer set up the Wi-Fi over the serial port. */
	readonly improv?: typeof openImprov;
	/** MCP resources: options for the application. */
	readonly resources?: (board: Board) => Pick<ApplicationOptions, "features" | "onState">;
}
