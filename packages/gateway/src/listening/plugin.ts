import { join } from "node:path";
import { mayListen } from "../config/access.js";
import { definePlugin, flag, httpUrl, inGroup, KEY, requiring, setting, text } from "../plugin.js";
import { speech } from "../speech/plugin.js";
import { COMMAND, checkProvider, readProvider } from "../speech/voice.js";

/** Opens the microphones of devices, if the settings allow that: the tools `listen` and `ask`, and speech as an event. */
export const listening = definePlugin({
	name: "listening",
	settings: inGroup("Speech", {
		microphones: setting(flag, "Let clients that may do so listen with the microphones of devices", false),
		transcriptionCommand: setting(
			COMMAND,
			"Program that turns speech into text: reads WAV ({file} or its input), writes the text; {language} is the language",
		),
		transcriptionUrl: requiring(
			["transcriptionModel"],
			setting(httpUrl, "Base URL of an OpenAI-compatible API that does so, instead of transcriptionCommand"),
		),
		transcriptionModel: setting(text("model"), "Model name at transcriptionUrl"),
		transcriptionKey: setting(KEY, "API key for transcriptionUrl"),
		transcriptionLanguage: setting(text("language"), "Language of the speech: en, ja, zh; default: any"),
	}),
	check: (settings): string[] => checkProvider(settings, "transcription"),
	setup: async (gateway): Promise<void> => {
		const { servers, settings } = gateway;
		if (!settings.microphones) {
			return;
		}
		const [{ rm }, { makeMicrophones, recordHeard }, recognizers, { askTool, listenTool }] = await Promise.all([
			import("node:fs/promises"),
			import("./microphones.js"),
			import("./recognizer.js"),
			import("./ask.js"),
		]);
		const folder = join(settings.stateFolder, "recordings");
		// A process that was killed has not deleted its own.
		const removeRecordings = (): Promise<void> => rm(folder, { recursive: true, force: true });
		await removeRecordings();
		gateway.on("close", removeRecordings);
		const provider = readProvider(settings, "transcription");
		const recognize = provider && recognizers.recognizerOf(provider, folder, settings.transcriptionLanguage);
		const microphones = makeMicrophones(gateway, recognize);
		if (recognize !== undefined) {
			recordHeard(gateway, microphones);
		}
		gateway.tools.add((access) =>
			mayListen(access)
				? [listenTool(access, microphones, servers), askTool(access, microphones, servers, gateway.use(speech))]
				: [],
		);
	},
});
