import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Words } from "../features/language.js";
import type { Assistant, Chat } from "./assistant.js";
import type { Guard } from "./guard.js";
import type { Head } from "./head.js";
import type { Button } from "./kinds/button.js";
import type { PartsByKind } from "./kinds/index.js";
import type { ByteSource, Camera, Preview, Snapshot } from "./pictures.js";
import type { Reminders } from "./reminders.js";
import type { RuleBook } from "./rules.js";
import type { Codec, Player, PlayOpusFile, Speaker } from "./sound.js";
import type { Installer, Updater } from "./updater.js";
import type { AccessPoint, SetupNotice, WiFiSetup } from "./wifi-setup.js";

/** A part's numbers are plain properties: reading one reads the part, writing one moves it. */

export type Theme = "light" | "dark";

/** A screen's backlight. */
export interface Backlight {
	/** Percent, an integer from 0 to 100. 0 is off. */
	brightness: number;
}

/** ECMA-419's serial port. */
export interface SerialPort {
	/** At most this many of the received bytes. */
	read(count: number): ArrayBuffer | undefined;
	/** Writes all or throws. Takes at most as many bytes as `onWritable` announced. */
	write(bytes: ArrayBuffer): void;
	close(): void;
}

export interface SerialOptions {
	/** Bits per second. */
	readonly baud: number;
	readonly format: "buffer";
	readonly onReadable: (count: number) => void;
	readonly onWritable: (count: number) => void;
}

/** The serial port that leads to a computer. Its constructor throws if it is in use, for example by the debugger. */
export interface SerialRecord {
	readonly io: new (options: SerialOptions) => SerialPort;
}

/** The content of a screen's face. */
export interface Face {
	/** The device's state: "idle", "speaking", … */
	readonly state: string;
	/** The backend's URL. */
	readonly backend: string;
	/** Whether the device is in a session with it. */
	readonly connected: boolean;
	/** Percent of full volume; undefined on a board without a speaker. */
	readonly volume: number | undefined;
	/** The last thing said, by the user or the assistant. */
	readonly message: string;
	/** The code that binds the device to an account, shown large; empty for none. */
	readonly code: string;
	/** A word such as "happy", "neutral": of src/screen/emotions.ts, or another that the backend sent. */
	readonly emotion: string;
	/** An alert for the user. */
	readonly alert: { readonly status: string; readonly message: string };
	/** The device's own words, in the language of its setting; undefined before the settings were read. */
	readonly words: Words | undefined;
	/** How a phone reaches the set-up page; undefined unless the device is being set up. */
	readonly setup: SetupNotice | undefined;
	/** Whether the network is there, and no attempt to reach the backend has failed since. */
	readonly online: boolean;
	/** Undefined on a board without one. */
	readonly battery: { readonly level: number; readonly charging: boolean } | undefined;
	/** Strength of the Wi-Fi signal, from 1 (weak) to 3 (strong). Undefined without Wi-Fi. */
	readonly signal: number | undefined;
	/** Whether state and backend are shown in the firmware's words, to find a fault. */
	readonly details: boolean;
}

/** A face before anything is known. */
export const BLANK_FACE: Face = deepFreeze({
	state: "unknown",
	backend: "",
	connected: false,
	volume: undefined,
	message: "",
	code: "",
	emotion: "neutral",
	alert: { status: "", message: "" },
	words: undefined,
	setup: undefined,
	online: true,
	battery: undefined,
	signal: undefined,
	details: false,
});

/** A font of a screen, as the hello tells it: the family's `text_font`. */
export interface TextFont {
	/** Names the font with its glyphs. */
	readonly bundle: string;
	/** The built-in characters, as the family names them. */
	readonly charset: string;
	/** Pixels of height. */
	readonly size: number;
	/** Bits of a pixel. */
	readonly bpp: number;
	/** The glyph set of the build, for this project's gateway. */
	readonly set: string;
}

/** Takes glyphs that a backend sends for characters that a font lacks: the family's `glyph_push`. */
export interface Glyphs {
	readonly font: TextFont;
	/** @param push the member `glyph_push` of a message; what does not fit the font is ignored */
	take(push: unknown): void;
}

export interface Screen {
	/** Pixels. */
	readonly width: number;
	readonly height: number;
	readonly monochrome: boolean;
	/** Percent of full backlight, an integer from 0 to 100. */
	brightness: number;
	theme: Theme;
	/** Current percentage of `brightness`: 100, or less while nobody looks at it; 0 is off. Absent if it cannot be dimmed. */
	light?: number;
	/** Absent if it shows no other characters than those of its font. */
	readonly glyphs?: Glyphs;
	/**
	 * Shows what has changed, and leaves the rest of the face as it is.
	 *
	 * @param milliseconds how long a message is shown, unless another takes its place; an alert goes by itself. Only the
	 *   application's screen heeds it.
	 */
	show(change: Partial<Face>, milliseconds?: number): void;
}

export interface Battery {
	/** Percent, an integer from 0 to 100. */
	readonly level: number;
	readonly charging: boolean;
}

export interface Network {
	readonly type: "wifi" | "ethernet" | "cellular";
	readonly ssid?: string;
	/** Received signal strength in dBm, where the network is a radio's. */
	readonly rssi?: number;
	readonly online: boolean;
	/** Called when `online` has changed. */
	onChange: (() => void) | undefined;
}

export interface Thermometer {
	/** Temperature of the chip in degrees Celsius; undefined if it does not answer. */
	readonly temperature: number | undefined;
}

/** The result of `self.get_system_info`. Unknown values are absent. Sizes are bytes. */
export interface SystemInfo {
	readonly language?: string;
	readonly flash_size?: number;
	readonly psram_size?: number;
	readonly minimum_free_heap_size?: number;
	readonly chip_model_name?: string;
	readonly chip_info?: {
		readonly model: number;
		readonly cores: number;
		readonly revision: number;
		readonly features: number;
	};
	/** Why the chip has started: "power-on", "software", "panic", "task watchdog", "brownout", "deep sleep", … */
	readonly reset_reason?: string;
	readonly partition_table?: readonly object[];
	readonly ota?: { readonly label: string };
	readonly board?: object;
}

export interface System {
	/** Lower case, with colons. */
	readonly macAddress: string;
	info(): SystemInfo;
	/** Restarts the device, after a delay in milliseconds. Returns at once. */
	restart(delay: number): void;
	/** Erases everything that is stored, and restarts at once. */
	factoryReset?(): void;
}

export type SettingValue = string | number | boolean;

/** Values that outlive a restart. */
export interface Settings {
	get(domain: string, key: string): SettingValue | ArrayBuffer | undefined;
	/** @returns whether the value is stored */
	set(domain: string, key: string, value: SettingValue): boolean;
	delete(domain: string, key: string): void;
}

export interface HttpRequest {
	readonly method: "GET" | "POST";
	/** http or https. */
	readonly url: string;
	readonly headers?: ReadonlyMap<string, string>;
	/** The parts of the body. They are sent one after another, piece by piece, and never joined. The caller closes them. */
	readonly body?: readonly (ArrayBuffer | ByteSource)[];
	/** Bytes that the response's body may have. Default: what the platform has room for. */
	readonly maxBytes?: number;
	/** Whether a status other than 2xx rejects the request. Default: the caller checks the status. */
	readonly mustSucceed?: boolean;
	/**
	 * Takes the body of a successful response piece by piece, so that it may have any length: `body` is then empty. An
	 * exception ends the request. If it returns a promise, reading continues once that has settled.
	 *
	 * @param total bytes of the body; undefined if the server does not say
	 */
	readonly onPiece?: (piece: ArrayBuffer, total: number | undefined) => void | Promise<void>;
	/** Receives a function that cancels the request: it rejects and its connection closes. Called again after a redirect. */
	readonly onOpen?: (cancel: () => void) => void;
	/** Milliseconds without progress after which the request fails. Default 30,000. */
	readonly timeout?: number;
}

export interface HttpResponse {
	readonly status: number;
	readonly body: ArrayBuffer;
	/** The target of a redirect that was not followed. */
	readonly location?: string | undefined;
}

export interface Http {
	/**
	 * Follows redirects, but not from https to http, and none of a body that is read from a source. Another server gets no
	 * `Authorization`. Rejects without a complete response.
	 */
	request(request: HttpRequest): Promise<HttpResponse>;
}

/** The machine's clock, on a board where the firmware has to set it. */
interface ClockSetter {
	/**
	 * @param time milliseconds since 1970, UTC
	 * @param timezone minutes that local time is ahead of UTC
	 */
	set(time: number, timezone: number): void;
}

/** The device as a whole. Provided by the application, not by the board. */
export interface Device {
	readonly board: Pick<Board, "name">;
	/** "idle", "speaking", … */
	readonly state: string;
	/** Milliseconds since the firmware has started. Wraps around after 49 days. */
	readonly uptime: number;
	/** Errors since then that nobody handled. */
	readonly guard: Pick<Guard, "count" | "lastError">;
	/** Whether it runs in safe mode, because it restarted again and again. */
	readonly isSafe: boolean;
}

/** The latest lines of the device's own log. Provided by the firmware, in a build with the feature. */
export interface DeviceLog {
	/** The oldest first. Each begins with the seconds since the start. */
	readonly lines: readonly string[];
}

/** The parts of a board. A missing part is undefined, and its tools are not offered. Parts with names are in kinds/. */
export interface Hardware extends PartsByKind {
	readonly device?: Device;
	readonly log?: DeviceLog;
	readonly speaker?: Speaker;
	readonly player?: Player;
	readonly codec?: Codec;
	readonly playOpusFile?: PlayOpusFile;
	readonly screen?: Screen;
	readonly snapshot?: Snapshot;
	readonly preview?: Preview;
	readonly camera?: Camera;
	readonly battery?: Battery;
	readonly network?: Network;
	readonly accessPoint?: AccessPoint;
	readonly wifiSetup?: WiFiSetup;
	readonly thermometer?: Thermometer;
	readonly system?: System;
	readonly updater?: Updater;
	/** The firmware makes it for a board that has an updater. */
	readonly installer?: Installer;
	readonly ruleBook?: RuleBook;
	readonly settings?: Settings;
	readonly http?: Http;
	readonly clock?: ClockSetter;
	readonly chat?: Chat;
	readonly assistant?: Assistant;
	readonly questions?: Questions;
	readonly reminders?: Reminders;
	readonly head?: Head;
}

/** A board: its parts, and its name as `serverInfo` gives it. */
export interface Board extends Hardware {
	readonly name: string;
	/** Lines to a computer, which can set the board up over each of them. */
	readonly serials?: readonly SerialRecord[];
	/**
	 * Opens the chip's BOOT button, unless it is open. Held for 5 s it starts the set-up, for 10 s it resets the device.
	 *
	 * @throws if another part uses its pin
	 */
	readonly bootButton?: () => Button;
	readonly power?: ChipPower;
	/** Outputs of a fixed level. They are kept here because XS closes those that nothing refers to. */
	readonly outputs?: readonly object[];
}

/** A running timer, opaque to the firmware. */
export type TimerHandle = object;

/** The shape of Moddable's `timer` module. Times are milliseconds. */
export interface TimerModule {
	set(callback: () => void, delay: number): TimerHandle;
	repeat(callback: () => void, interval: number): TimerHandle;
	/** Does nothing for undefined or for a timer that has run. */
	clear(timer: TimerHandle | null | undefined): void;
}

/** Timers and the log, which most classes use. */
export interface Runtime {
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}

/** A part of a board: "speaker", "screen", … */
export type Part = keyof Hardware;

/** The hardware passed to a tool, resource or prompt: the parts it needs are present, others may be. */
export type HardwareWith<Needs extends Part> = Hardware & { readonly [P in Needs]-?: NonNullable<Hardware[P]> };

/** Something offered only on a board with the parts it needs. */
export interface WithNeeds<Needs extends Part = Part> {
	/** The parts of the board that it uses. */
	readonly needs: readonly Needs[];
}

/** Whether a board has every part that a tool, resource or prompt needs. */
export const isOffered = ({ needs }: WithNeeds, hardware: Hardware): boolean =>
	needs.every((part) => hardware[part] !== undefined);

/** A pin that can end the chip's deep sleep. */
export interface WakePin {
	readonly pin: number;
	/** The level that wakes the chip: whether it is the high one. */
	readonly high: boolean;
}

/** How the Wi-Fi saves power between messages, from nothing to the most. */
type WiFiPowerSave = "off" | "min" | "max";

/** How a chip saves power. */
export interface ChipPower {
	/** @throws Error if the Wi-Fi does not take it */
	saveWiFi(mode: WiFiPowerSave): void;
	/** Whether the chip can be woken by this pin. */
	canWake(pin: WakePin): boolean;
	/**
	 * Sleeps until one of the pins or the time wakes the chip, which then restarts. Does not return.
	 *
	 * @param pins each must pass `canWake`
	 * @param seconds after which it wakes by itself; 0: only a pin wakes it
	 */
	sleep(pins: readonly WakePin[], seconds: number): void;
}

/** A question to the person at the device. */
export interface Question {
	readonly text: string;
	/** At least one. */
	readonly choices: readonly string[];
	/** Milliseconds that the person has. */
	readonly time: number;
	/**
	 * Called every few seconds while nobody has answered.
	 *
	 * @param waited milliseconds since the question
	 * @param marked the choice that is marked
	 */
	readonly onWait?: (waited: number, marked: string) => void;
}

/** Asks by the screen and the buttons. The firmware makes it if the board has both, and the build the feature `conversation`. */
export interface Questions {
	/** @returns the person's choice; undefined without one. Rejects if another question is on the screen. */
	ask(question: Question): Promise<string | undefined>;
	/** Gives up the question that is on the screen. */
	cancel(): void;
}
