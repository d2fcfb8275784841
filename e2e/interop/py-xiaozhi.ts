import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Program } from "../../host-test/support/program.js";
import { temporaryFolder, until } from "../../host-test/support/testing.js";
import { startPython } from "./python.js";

/** Unused imports of py-xiaozhi, for sound, windows and pictures. */
const STAND_INS = ["cv2", "machineid", "openai", "opuslib", "sherpa_onnx", "sounddevice", "soxr"];

interface PyXiaozhiNetwork {
	readonly OTA_VERSION_URL?: string;
	readonly WEBSOCKET_URL?: string;
	readonly WEBSOCKET_ACCESS_TOKEN?: string;
	readonly MQTT_INFO?: object;
}

interface PyXiaozhiOptions {
	readonly checkout: string;
	readonly protocol: "websocket" | "mqtt";
	readonly macAddress: string;
	readonly network: PyXiaozhiNetwork;
	/** The file that its speaker writes: samples of 16 bits and 24 kHz. Undefined: it has no sound. */
	readonly speaker?: string;
}

export async function startPyXiaozhi(test: TestContext, options: PyXiaozhiOptions): Promise<Program> {
	const { checkout, protocol, macAddress, network, speaker } = options;
	const folder = temporaryFolder();
	mkdirSync(join(folder, "config"));
	const config = {
		CONFIG_VERSION: 1,
		SYSTEM_OPTIONS: {
			CLIENT_ID: "6b0c6a0e-8f4b-4a7d-9a3b-0c7c5a1d2e3f",
			DEVICE_ID: macAddress,
			NETWORK: network,
		},
		WAKE_WORD_OPTIONS: { USE_WAKE_WORD: false },
		SHORTCUTS: { ENABLED: false },
	};
	writeFileSync(join(folder, "config", "config.json"), JSON.stringify(config));
	const args = [join(checkout, "main.py"), "--mode", "cli", "--protocol", protocol];
	if (network.OTA_VERSION_URL === undefined) {
		args.push("--skip-activation");
	}
	return await startPython(test, args, (output) => output !== "", {
		standIns: STAND_INS,
		hasSound: speaker !== undefined,
		env: {
			XIAOZHI_DATA_DIR: folder,
			...(speaker === undefined ? { XIAOZHI_DISABLE_AUDIO: "1" } : { XS_MCP_SPEAKER: speaker }),
		},
	});
}

/** Has py-xiaozhi begin a conversation, which opens a session. */
export async function converse(program: Program): Promise<void> {
	await until(() => program.output.includes("待命"), "its prompt");
	// It shows its prompt a little before it reads commands.
	await delay(1_000);
	program.write("r\n");
}
