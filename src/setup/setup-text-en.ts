import { deepFreeze } from "../text/deep-freeze.js";

/**
 * Every text of the set-up page in English, which the screen and the log show, too. `{name}` is a placeholder. The other
 * languages have the same keys: setup-text-ja.ts, setup-text-zh.ts.
 */
export const ENGLISH = deepFreeze({
	title: "Set up the device",
	intro: "Choose the Wi-Fi that {name} uses, and the server that it connects to.",
	safeMode: "The device restarted again and again, so it runs in safe mode: nothing but set-up and update works.",
	language: "Language",
	wifi: "Wi-Fi",
	networks: "Networks found",
	searching: "Searching for networks …",
	noNetwork: "No network found.",
	searchAgain: "Search again",
	secured: "{name}, needs a password",
	open: "{name}, open",
	signal: "signal {name} of 4",
	ssid: "Network name",
	password: "Password",
	passwordHint: "Leave it empty for an open network.",
	passwordSaved: "Leave it empty to keep the saved password.",
	showPassword: "Show the password",
	server: "Server",
	find: "Find my gateway",
	gateways: "Gateways found",
	backend: "Server address",
	backendHint:
		"“mdns:” means the gateway on your network. Other addresses begin with ws://, wss://, mqtt:// or mqtts://.",
	token: "Token",
	tokenHint: "Only if the server asks for one.",
	tokenSaved: "Leave it empty to keep the saved token.",
	more: "More settings",
	otaUrl: "Update server (OTA URL)",
	otaUrlHint: "If set, the device gets its server address from there.",
	name: "Device name",
	nameHint: "The name that apps show.",
	send: "Save and connect",
	keep: "Save anyway",
	wait: "Please wait",
	joining: "Joining {name} …",
	connecting: "Connecting to the server …",
	finding: "Looking for gateways on the network …",
	done: "Done",
	joinedRestarts: "The device has joined {name}. It restarts and connects: you can close this page.",
	joinedConnects: "The device has joined {name}. It connects: you can close this page.",
	failed: "That did not work",
	notJoined: "Could not join {name}. Check the password, or move closer to the router.",
	notReached: "The Wi-Fi works, but the server did not answer. Check that it is running, and its address and token.",
	notStored: "The settings could not be stored.",
	found: "Gateways found",
	chooseGateway: "Choose your gateway below, then save.",
	noGateway: "No gateway found on {name}. Is it running, in the same network? You can type its address instead.",
	lost: "No connection to the device",
	lostHelp:
		"Your phone may have left the device’s Wi-Fi. If the device has joined the network, its own Wi-Fi is gone and you are done. Otherwise join its Wi-Fi again and reload this page.",
	noAnswer: "The device did not answer. Is your phone still in its Wi-Fi?",
	reload: "The device has restarted since this page was loaded. Reload it.",
	busy: "The device is trying other settings. Try again in a moment.",
	wrongForm: "The device could not read the form. Reload this page.",
	wrongSetting: "The device cannot start with these settings.",
	chooseNetwork: "Choose a network, or type its name.",
	wrongSsid: "This name is too long for a network.",
	wrongPassword: "A Wi-Fi password has 8 to 63 characters.",
	wrongBackend: "The device cannot use this address. Examples: mdns: or ws://192.168.1.10:8765/",
	wrongToken: "This token is not valid: it is too long, or has more than one line.",
	wrongOtaUrl: "The address begins with http:// or https://.",
	wrongName: "A name has at most 32 characters.",
	erased: "Every setting was erased. The device restarts.",
});

/** The key of a text. */
export type TextKey = keyof typeof ENGLISH;

/** The texts of one language. */
export type SetupTexts = Readonly<Record<TextKey, string>>;
