import Resource from "Resource";
import Preference from "preference";
import Timer from "timer";
import { StoredSettings } from "../../../core/stored-settings.js";
import { inBuild } from "../../../platform/in-build.js";
import { openSimulatedWiFi } from "../../../platform/simulated-wifi.js";
import { openFace } from "../../../screen/open-face.js";
import openPreview from "../../../screen/open-preview.js";
import { openPlayer } from "../../../sound/open-player.js";
import type { Board, Settings } from "../../hardware.js";
import { heldBytes } from "../../pictures.js";
import type { Codec, Player } from "../../sound.js";
import { openControls } from "./controls.js";

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
	const bytes = ["02"];
	while (bytes.length < 6) {
		bytes.push(
			Math.floor(Math.random() * 256)
				.toString(16)
				.padStart(2, "0"),
		);
	}
	const address = bytes.join(":");
	settings.set("board", "mac", address);
	return address;
};

/** Moddable's desktop simulator, for which the firmware is built as for a chip. */
export const openBoard = () => {
	shuffleRandom();
	const settings = new StoredSettings(Preference, (message) => trace(`${message}\n`));
	// Shows the pins of a project's parts.
	inBuild<() => void>("src/hardware/parts/simulator/open-pin-panel")?.();
	const face = openFace(screen);
	const preview = openPreview(face);
	const wifi = openSimulatedWiFi(settings);
	const player = openPlayer(70);
	// A build that includes it, where libopus is.
	const codec = inBuild<(player: Player, channels: 1) => Codec>("src/sound/open-codec")?.(player, 1);
	const { close: closeControls, ...controls } = openControls();
	return {
		...controls,
		name: "simulator",
		speaker: player,
		player,
		...(codec && { codec }),
		screen: face,
		preview,
		camera: { capture: async () => heldBytes(new Uint8Array(new Resource("room.jpg"))) },
		// The computer's own network is always online.
		network: wifi ?? { type: "ethernet", online: true, onChange: undefined },
		...(wifi && { accessPoint: wifi }),
		system: {
			macAddress: macAddress(settings),
			info: () => ({
				language: "en-US",
				chip_model_name: "simulator",
				board: { type: "simulator", name: "simulator" },
			}),
			// The simulator cannot restart: it logs that, and continues.
			restart(delay) {
				Timer.set(() => trace("restart: not supported by the simulator\n"), delay);
			},
		},
		settings,
		close() {
			player.close();
			preview.close();
			closeControls();
			face.close();
		},
	} satisfies Board;
};
