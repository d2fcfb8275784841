import type { BackendSearch, BackendSearchOptions, BackendSource } from "../backend/search/backend-search.js";
import type { ConversationOptions } from "../conversation/backend-link.js";
import type { Conversation } from "../conversation/conversation.js";
import type { DeviceState } from "../device_state/device-state.js";
import type { Direct } from "../direct/open-direct.js";
import type { Guard } from "../hardware/guard.js";
import type { Board, Face, Hardware } from "../hardware/hardware.js";
import type { Runtime } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import type { Features } from "../mcp_server/mcp-server.js";
import type { Envelope } from "../protocols/envelope.js";
import type { SessionPolicy } from "../protocols/protocol-options.js";
import type { Transport } from "../protocols/transport.js";
import type { SettingValue } from "../settings/settings-table.js";
import type { Setup } from "../setup/phone-setup.js";
import type { HardwareTool } from "../tools/define-tool.js";
import type { Voice, VoiceOptions } from "../voice/voice.js";
import type { ObserverOptions } from "./observed-parts.js";

export interface ApplicationOptions extends Runtime {
	readonly board: Board;
	/** The device's name in `serverInfo`. Default: the board's. */
	readonly name?: string | undefined;
	/** The backend's URL, for the screen. Empty if the device has no backend. */
	readonly backend: string;
	/** How the backend is reached. Undefined until it is found, or without a backend. */
	readonly transport?: Transport;
	/** Source of the backend's address if it is not a setting: the device connects once it is found. */
	readonly source?: BackendSource;
	/** Searches there. */
	readonly search?: ((options: BackendSearchOptions) => BackendSearch) | undefined;
	/** Default "always". */
	readonly session?: SessionPolicy;
	/** Default "auto". */
	readonly listenMode?: SettingValue<"listenMode">;
	/** Whether the hello of a board without a codec names an audio format. Default true. */
	readonly audioParams?: SettingValue<"audioParams"> | undefined;
	/** The device's words. Default: none, on a board without a screen. */
	readonly words?: Words | undefined;
	/** Talks with the backend's assistant by text. */
	readonly conversation?: ((options: Omit<ConversationOptions, "events">) => Conversation) | undefined;
	/** Serves clients on the network while the device is online. */
	readonly direct?: Direct | undefined;
	/** Sets the device up with a phone. */
	readonly setup?: Setup | undefined;
	/** Tells how the installation of firmware goes on. */
	readonly update?: { readonly observe: ObserverOptions["observeInstaller"] } | undefined;
	/** Plays what the backend says, and sends what the device hears, on a board with a codec. */
	readonly voice?: ((options: VoiceOptions) => Voice) | undefined;
	/** The audio channel of a backend over MQTT. */
	readonly openUdp?: VoiceOptions["openUdp"];
	/** Saves power while nobody uses the device. */
	readonly power?: Attachment | undefined;
	/** Tools that need a missing part are not offered. */
	readonly tools: readonly HardwareTool[];
	/** Features besides tools. Default: none. */
	readonly features?: Features<Hardware>;
	/** A monotonic clock: milliseconds, as a 32-bit number. Without it the uptime is unknown. */
	readonly ticks?: () => number;
	/** Further receivers of events. */
	readonly followers?: readonly Attachment[];
	/** Counts and logs errors that nobody handles. Default: one of its own. */
	readonly guard?: Guard | undefined;
	/** Whether the device runs in safe mode. Default false. */
	readonly isSafe?: boolean;
	/** Whether firmware of this version was rolled back. Default: none was. */
	readonly hasFailed?: (version: string) => boolean;
}

/** Events of the application. What is attached to it implements those that it needs. */
export interface Attachment {
	/** The device is in its network, which it has not joined for the set-up alone. */
	online?(): void;
	/** The device is not in its network, or is set up. */
	offline?(): void;
	/** A session with the backend has begun. */
	sessionBegan?(id: string): void;
	/** No session with the backend is left. */
	sessionEnded?(): void;
	/** The session has ended, or could not begin, and not by the device. */
	lost?(): void;
	/** The device is in a session with its backend. Without a backend: online. */
	reached?(): void;
	stateChanged?(state: DeviceState): void;
	/** A sensor or a switch has changed. */
	changed?(): void;
	/** The face has changed, or would have on a board with a screen. */
	shown?(change: Partial<Face>): void;
	/** A message of the backend that is not MCP. */
	receive?(message: Envelope): void;
	/** Somebody uses the device, which the face does not show: a button, the brightness, a picture. */
	used?(): void;
	/** The application ends. */
	close?(): void;
}
