import { definePlugin, flag, hours, httpUrl, inGroup, KEY, pairs, requiring, setting, text } from "../plugin.js";
import type { Announcements } from "./announcements.js";
import { DeviceTurns } from "./device-tools.js";
import type { Speech } from "./speech.js";
import { COMMAND, checkProvider, voiceOf } from "./voice.js";

export interface SpeechOfGateway {
	/** One at a time speaks on a device, or listens. */
	readonly turns: DeviceTurns;
	/** Undefined: no setting says how to speak. */
	readonly voice: { readonly speech: Speech; readonly announcements: Announcements } | undefined;
}

/** Says texts on devices, if the settings name a voice: the tool `say`, timers, and sounds for devices to fetch. */
export const speech = definePlugin({
	name: "speech",
	settings: inGroup("Speech", {
		speechCommand: setting(
			COMMAND,
			"Program that speaks: reads text, writes WAV; {voice} is the voice. Example: espeak-ng --stdout -v {voice}",
		),
		speechUrl: requiring(
			["speechModel"],
			setting(httpUrl, "Base URL of an OpenAI-compatible API that speaks, instead of speechCommand"),
		),
		speechModel: setting(text("model"), "Model name at speechUrl"),
		speechKey: setting(KEY, "API key for speechUrl"),
		speechVoices: setting(
			pairs("LANGUAGE=VOICE"),
			"Voices by language: en, ja, ko, ru, zh; * for any other",
			new Map(),
		),
		speakTimers: setting(flag, "Say the text of a timer when it is due", false),
		quietHours: setting(hours, "Daily hours without speech: texts are shown. Example: 22:00-07:00"),
	}),
	check: (settings): string[] => checkProvider(settings, "speech"),
	setup: async (gateway): Promise<SpeechOfGateway> => {
		const [{ makeAnnouncements, sayToolFor, speakTimers }, { addSpeechRoutes, makeSpeech }] = await Promise.all([
			import("./announcements.js"),
			import("./speech.js"),
		]);
		const turns = new DeviceTurns();
		const voice = voiceOf(gateway.settings);
		if (voice === undefined) {
			return { turns, voice };
		}
		const speech = makeSpeech(voice);
		const announcements = makeAnnouncements(gateway, speech, turns);
		gateway.tools.add((access) => sayToolFor(access, announcements, gateway.servers));
		addSpeechRoutes(gateway.deviceRoutes, speech);
		if (gateway.settings.speakTimers) {
			speakTimers(gateway, announcements);
		}
		return { turns, voice: { speech, announcements } };
	},
});
