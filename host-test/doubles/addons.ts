import type { Addons } from "../../src/app/addons.js";
import { Bootstrap } from "../../src/backend/bootstrap/bootstrap.js";
import { BackendSearch } from "../../src/backend/search/backend-search.js";
import { Conversation } from "../../src/conversation/conversation.js";
import { EcmaHttp } from "../../src/http/ecma-http.js";
import { LANGUAGES } from "../../src/language/feature.js";
import { MqttTransport } from "../../src/mqtt/mqtt-transport.js";
import { FirmwareInstaller } from "../../src/update/firmware-installer.js";
import { observedInstaller } from "../../src/update/observed-installer.js";
import { rollBack, Trial } from "../../src/update/trial.js";
import { Voice } from "../../src/voice/voice.js";
import { TOOLS } from "./tools.js";

export const ADDONS = {
	bootstrap: (options) => new Bootstrap({ ...options, hmacSha256: async () => new ArrayBuffer(0) }),
	conversation: (options) => new Conversation(options),
	http: (options) => new EcmaHttp(options),
	language: LANGUAGES,
	mqtt: (options) => new MqttTransport(options),
	search: (options) => new BackendSearch(options),
	update: {
		installer: (options) => new FirmwareInstaller(options),
		observe: observedInstaller,
		trial: (options) => new Trial(options),
		rollBack,
	},
	voice: (options) => new Voice(options),
	tools: TOOLS,
} satisfies Partial<Addons> & { readonly tools: object };
