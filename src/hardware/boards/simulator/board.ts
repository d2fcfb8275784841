/// <reference path="../../../types/simulator-controls.d.ts" />
import Resource from "Resource";
import SimulatedButton from "button";
import SimulatedLed from "led";
import Time from "time";
import Timer from "timer";
import { toHex } from "../../../core/text/hex.js";
import { inBuild } from "../../../platform/in-build.js";
import { openSimulatedWiFi } from "../../../platform/simulated-wifi.js";
import { openFace } from "../../../screen/open-face.js";
import openPreview from "../../../screen/open-preview.js";
import type openCodec from "../../../sound/open-codec.js";
import { openPlayer } from "../../../sound/open-player.js";
import type { BoardServices } from "../../board-data.js";
import { TimedButton } from "../../drivers/button.js";
import type { Board, Settings } from "../../hardware.js";
import { heldBytes } from "../../pictures.js";

/** Skips random numbers by the time: the simulator never seeds them, and each process would be the same. */
const shuffleRandom = (): void => {
	for (let left = Date.now() % 65_536; left > 0; left -= 1) {
		Math.random();
	}
};

/** A locally administered address, made once, so that simulators of different computers are different devices. */
const macAddress = (settings: Settings): string => {
	const stored = settings.get("board", "mac");
	if (typeof stored === "string") {
		return stored;
	}
	const bytes = Uint8Array.from({ length: 6 }, (_, at) => (at === 0 ? 2 : Math.random() * 256));
	const address = (toHex(bytes.buffer).match(/../g) ?? []).join(":");
	settings.set("board", "mac", address);
	return address;
};

/** The LED of the simulated device, where the device that was chosen in the simulator has one. */
const openLight = () => {
	const led = new SimulatedLed();
	let isOn = false;
	return {
		get on() {
			return isOn;
		},
		set on(on) {
			isOn = on;
			led.write(on ? 1 : 0);
		},
	};
};

/** Moddable's desktop simulator, for which the firmware is built as for a chip. */
export const openBoard = ({ source, log }: BoardServices) => {
	shuffleRandom();
	// Shows the pins of a project's parts.
	inBuild<() => void>("src/hardware/parts/simulator/open-pin-panel")?.();
	const face = openFace(screen);
	const wifi = openSimulatedWiFi(source);
	const player = openPlayer(70);
	// A build that includes it, where libopus is.
	const codec = inBuild<typeof openCodec>("src/sound/open-codec")?.(player, log, 1, true);
	const button = new TimedButton({ timer: Timer, ticks: () => Time.ticks });
	// The key Del presses it, too.
	new SimulatedButton({ onPush: (value) => button.follow(value === 1) });
	return {
		buttons: { button },
		lights: { led: openLight() },
		name: "simulator",
		speaker: player,
		player,
		...(codec && { codec }),
		screen: face,
		preview: openPreview(face),
		camera: { capture: async () => heldBytes(new Uint8Array(new Resource("room.jpg"))) },
		// The computer's own network is always online.
		network: wifi ?? { type: "ethernet", online: true, onChange: undefined },
		...(wifi && { accessPoint: wifi }),
		system: {
			macAddress: macAddress(source.settings),
			info: () => ({
				language: "en-US",
				chip_model_name: "simulator",
				board: { type: "simulator", name: "simulator" },
			}),
			// The simulator cannot restart: it logs that, and continues.
			restart(delay) {
				Timer.set(() => log("restart: not supported by the simulator"), delay);
			},
		},
		settings: source.settings,
	} satisfies Board;
};
