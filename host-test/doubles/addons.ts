import type { Addons } from "../../src/app/addons.js";
import { observedInstaller } from "../../src/app/observed-installer.js";
import { BackendSearch } from "../../src/connect/backend-search.js";
import { Bootstrap } from "../../src/connect/bootstrap.js";
import { ServedTransport } from "../../src/connect/served-transport.js";
import { Conversation } from "../../src/conversation/conversation.js";
import { LANGUAGES } from "../../src/language/languages.js";
import { EcmaHttp } from "../../src/net/ecma-http.js";
import { MqttTransport } from "../../src/protocols/mqtt-transport.js";
import { TOOLS } from "../../src/tools/index.js";
import { FirmwareInstaller } from "../../src/update/firmware-installer.js";
import { rollBack, Trial } from "../../src/update/trial.js";

/** The add-ons that need nothing of the platform but a digest, which is always the same here, and every tool. */
export const ADDONS = {
	bootstrap: (options) => new Bootstrap({ ...options, hmacSha256: async () => new ArrayBuffer(0) }),
	conversation: (options) => new Conversation(options),
	http: (options) => new EcmaHttp(options),
	language: LANGUAGES,
	mqtt: (options) => new MqttTransport(options),
	search: {
		begin: (options) => new BackendSearch(options),
		transport: (maxMessageBytes) => new ServedTransport(maxMessageBytes),
	},
	update: {
		installer: (options) => new FirmwareInstaller(options),
		observe: observedInstaller,
		trial: (options) => new Trial(options),
		rollBack,
	},
	tools: TOOLS,
} satisfies Partial<Addons> & { readonly tools: object };
