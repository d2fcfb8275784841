import Preference from "preference";
import Timer from "timer";
import * as host from "virtual-host";
import {
	BLANK_FACE,
	type Board,
	type Face,
	type Network,
	type Screen,
	type System,
	type Theme,
} from "../../hardware/hardware.js";
import type { ByteSource } from "../../hardware/pictures.js";
import { openSimulatedWiFi } from "../../platform/simulated-wifi.js";
import { SoundPlayer } from "../../sound/sound-player.js";
import { openParts } from "./parts.js";
import { VirtualUpdater } from "./updater.js";

class VirtualScreen implements Screen {
	readonly width = 320;
	readonly height = 240;
	readonly monochrome = false;
	#brightness = 75;
	#theme: Theme = "light";
	#face = BLANK_FACE;

	get brightness(): number {
		return this.#brightness;
	}

	set brightness(brightness: number) {
		this.#brightness = brightness;
		this.#draw();
	}

	get theme(): Theme {
		return this.#theme;
	}

	set theme(theme: Theme) {
		this.#theme = theme;
		this.#draw();
	}

	show(change: Partial<Face>): void {
		this.#face = { ...this.#face, ...change };
		this.#draw();
	}

	take(quality: number): Promise<ByteSource> {
		return host.drawScreen(this.#picture(), quality);
	}

	#draw(): void {
		host.showScreen(this.#picture());
	}

	#picture(): object {
		const { width, height } = this;
		return { width, height, brightness: this.#brightness, theme: this.#theme, ...this.#face };
	}
}

class VirtualNetwork implements Network {
	readonly type = "wifi";
	readonly ssid = "virtual";
	readonly rssi = -52;
	readonly online = true;
	onChange: (() => void) | undefined = undefined;
}

class VirtualSystem implements System {
	readonly macAddress = host.options.macAddress;

	info(): object {
		return { language: "en-US", chip_model_name: "virtual", board: { type: "virtual", name: "virtual" } };
	}

	restart(delay: number): void {
		host.restart(delay);
	}
}

/** A board without hardware: every part is simulated by the virtual device's Node side. */
export function openBoard() {
	const screen = new VirtualScreen();
	const player = new SoundPlayer({ audioOut: { io: host.AudioOut }, timer: Timer, volume: 70 });
	const wifi = openSimulatedWiFi();
	const parts = openParts();
	return {
		...parts,
		name: "virtual",
		speaker: player,
		player,
		screen,
		snapshot: screen,
		preview: { begin: host.beginPicture },
		camera: { capture: host.capture },
		battery: { level: 88, charging: false },
		network: wifi ?? new VirtualNetwork(),
		...(wifi && { accessPoint: wifi }),
		thermometer: { temperature: 41.5 },
		system: new VirtualSystem(),
		updater: new VirtualUpdater(),
		settings: Preference,
		close() {
			player.close();
			parts.close();
		},
	} satisfies Board;
}
