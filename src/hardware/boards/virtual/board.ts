import Preference from "preference";
import Timer from "timer";
import * as host from "virtual-host";
import { StoredSettings } from "../../../core/settings/stored-settings.js";
import { openSimulatedWiFi } from "../../../platform/simulated-wifi.js";
import { loudness, SoundPlayer } from "../../../sound/player/sound-player.js";
import {
	type Battery,
	BLANK_FACE,
	type Board,
	type Face,
	type Network,
	type Screen,
	type Theme,
} from "../../hardware.js";
import type { ByteSource } from "../../pictures.js";
import { openParts } from "./parts.js";
import { virtualUpdater } from "./updater.js";

class VirtualScreen implements Screen {
	readonly width: number;
	readonly height: number;
	readonly monochrome = false;
	private _brightness = 75;
	private _theme: Theme = "light";
	private face = BLANK_FACE;

	constructor({ width, height }: { readonly width: number; readonly height: number }) {
		this.width = width;
		this.height = height;
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		this._brightness = brightness;
		this.draw();
	}

	get theme(): Theme {
		return this._theme;
	}

	set theme(theme: Theme) {
		this._theme = theme;
		this.draw();
	}

	show(change: Partial<Face>): void {
		this.face = { ...this.face, ...change };
		host.tell("screen", this.picture(), Object.keys(change));
	}

	take(quality: number): Promise<ByteSource> {
		return host.drawScreen(this.picture(), quality);
	}

	private draw(): void {
		host.tell("screen", this.picture(), []);
	}

	private picture(): object {
		const { width, height } = this;
		return { width, height, brightness: this._brightness, theme: this._theme, ...this.face };
	}
}

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

/** Percent. */
const FULL_VOLUME = 100;

/** A board without hardware: every part is simulated by the virtual device's Node side, and it has those of its profile. */
export const openBoard = () => {
	const { board } = host.options;
	const has = (part: string): boolean => board.parts.includes(part);
	const screen = board.screen && new VirtualScreen(board.screen);
	const player = has("player")
		? new SoundPlayer({ audioOut: { io: host.AudioOut }, timer: Timer, volume: 70 })
		: undefined;
	const settings = new StoredSettings(Preference, (message) => trace(`${message}\n`));
	const wifi = openSimulatedWiFi(settings);
	const { close, ...parts } = openParts(board);
	return {
		...parts,
		name: board.name,
		...(player && { speaker: player, player }),
		...(has("codec") && { codec: host.openCodec(() => loudness(player?.volume ?? FULL_VOLUME)) }),
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
		updater: virtualUpdater(),
		settings,
		close() {
			player?.close();
			close();
		},
	} satisfies Board;
};
