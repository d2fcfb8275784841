import Timer from "timer";
import * as host from "virtual-host";
import { openSimulatedWiFi } from "../../../platform/simulated-wifi.js";
import { OpusCodec } from "../../../sound/opus-codec.js";
import { SoundPlayer } from "../../../sound/sound-player.js";
import type { BoardServices } from "../../board-data.js";
import { checkedSink } from "../../drivers/image-identity.js";
import { type Battery, BLANK_FACE, type Board, type Network, type Screen, type Theme } from "../../hardware.js";
import type { Snapshot } from "../../pictures.js";
import type { Codec, Player } from "../../sound.js";
import type { Updater } from "../../updater.js";
import { openParts } from "./parts.js";

/** The first bytes of a virtual device's image. */
const MAGIC = "XSMCPVD2";

/** Offset of the identity in an image: after the magic and the script's length. */
const IDENTITY_AT = 12;

const checkMagic = (image: Uint8Array): void => {
	if (String.fromCharCode(...image.subarray(0, MAGIC.length)) !== MAGIC) {
		throw new Error(`not a firmware image of a virtual device: it does not start with ${MAGIC}`);
	}
};

/** The virtual device's two places for firmware, which Node keeps. */
const openUpdater = (): Updater => {
	const updater = {
		...host.firmware,
		begin(source: Parameters<Updater["begin"]>[0]) {
			host.firmware.begin();
			return checkedSink(IDENTITY_AT, source, checkMagic, host.firmware);
		},
		confirm() {
			updater.isOnTrial = false;
			host.firmware.confirm();
		},
	};
	return updater;
};

/** A screen that the virtual device's Node side draws. */
const openScreen = ({ width, height }: { readonly width: number; readonly height: number }): Screen & Snapshot => {
	const state = { width, height, brightness: 75, theme: "light" as Theme, ...BLANK_FACE };
	const change = (changes: Partial<typeof state>, shown: readonly string[] = []): void => {
		Object.assign(state, changes);
		host.tell("screen", state, shown);
	};
	return {
		width,
		height,
		monochrome: false,
		get brightness() {
			return state.brightness;
		},
		set brightness(brightness) {
			change({ brightness });
		},
		get theme() {
			return state.theme;
		},
		set theme(theme) {
			change({ theme });
		},
		show: (changes) => change(changes, Object.keys(changes)),
		take: (quality) => host.drawScreen(state, quality),
	};
};

/** A Wi-Fi whose signal the user sets, and that may be lost. */
const openNetwork = (): Network => {
	const network = {
		type: "wifi" as const,
		ssid: "virtual",
		rssi: -52,
		online: true,
		onChange: undefined as Network["onChange"],
	};
	host.on("network", (online, rssi) => {
		const hasChanged = online !== network.online;
		Object.assign(network, { online, rssi });
		if (hasChanged) {
			network.onChange?.();
		}
	});
	return network;
};

/** A battery whose level the user sets. */
const openBattery = (): Battery => {
	const battery = { level: 88, charging: false };
	host.on("battery", (level, charging) => Object.assign(battery, { level, charging }));
	return battery;
};

/** A codec as on boards, whose microphone the user may switch off. */
const openCodec = (player: Player, log: BoardServices["log"], isFullDuplex = false): Codec => {
	const { AudioIn, OpusThread } = host;
	const parts = { player, channels: 1, hasOwnPort: isFullDuplex, AudioIn, OpusThread, timer: Timer, log } as const;
	const codec = Object.assign(new OpusCodec(parts), { muted: false });
	host.on("muted", (isMuted) => {
		codec.muted = isMuted;
	});
	return codec;
};

/** A board without hardware: every part is simulated by the virtual device's Node side, and it has those of its profile. */
export const openBoard = ({ source, log }: BoardServices) => {
	const { board } = host.options;
	const has = (part: string): boolean => board.parts.includes(part);
	const screen = board.screen && openScreen(board.screen);
	const player = new SoundPlayer(host.AudioOut, Timer, 70);
	const wifi = openSimulatedWiFi(source);
	return {
		...openParts(board),
		name: board.name,
		...(has("player") && { speaker: player, player }),
		...(has("codec") && { codec: openCodec(player, log, board.isFullDuplex) }),
		...(screen && { screen, ...(has("snapshot") && { snapshot: screen }) }),
		...(has("preview") && { preview: { begin: host.beginPicture } }),
		...(has("camera") && { camera: { capture: host.capture } }),
		...(has("battery") && { battery: openBattery() }),
		network: wifi ?? openNetwork(),
		...(wifi && { accessPoint: wifi }),
		thermometer: { temperature: 41.5 },
		system: {
			macAddress: host.options.macAddress,
			info: () => ({
				language: "en-US",
				chip_model_name: "virtual",
				...(host.options.resetReason !== undefined && { reset_reason: host.options.resetReason }),
				board: { type: board.name, name: board.name },
			}),
			restart: (delay) => host.tell("restart", delay),
		},
		updater: openUpdater(),
		settings: source.settings,
	} satisfies Board;
};
