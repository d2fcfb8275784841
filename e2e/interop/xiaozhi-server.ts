import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Program } from "../../host-test/support/program.js";
import { freePort, temporaryFolder } from "../../host-test/support/testing.js";
import { startPython } from "./python.js";
import { SPEECH_PATH, TRANSCRIPTION_PATH } from "./scripted-model.js";

/** Unused imports of the server, for speech, sound and models. */
const STAND_INS = [
	"aioconsole",
	"cnlunar",
	"markitdown",
	"mcp",
	"onnxruntime",
	"openai",
	"opuslib_next",
	"portalocker",
	"pydub",
];

export interface XiaozhiServer {
	readonly program: Program;
	readonly url: string;
	readonly otaUrl: string;
}

interface XiaozhiServerOptions {
	readonly modelUrl?: string;
	readonly server?: object;
	readonly more?: object;
	readonly firmware?: Readonly<Record<string, string>>;
	readonly managerUrl?: string;
	readonly hasSound?: boolean;
}

/** Starts xinnan-tech's WebSocket and OTA server, its language model scripted. */
export async function startXiaozhiServer(
	test: TestContext,
	checkout: string,
	options: XiaozhiServerOptions = {},
): Promise<XiaozhiServer> {
	const { modelUrl = "http://127.0.0.1:9", server, more, firmware = {}, managerUrl, hasSound = false } = options;
	const [port, httpPort] = [await freePort(), await freePort()];
	const url = `ws://127.0.0.1:${port}/xiaozhi/v1/`;
	const address = {
		ip: "127.0.0.1",
		port,
		http_port: httpPort,
		websocket: url,
		vision_explain: `http://127.0.0.1:${httpPort}/mcp/vision/explain`,
		auth_key: "interop",
		...server,
	};
	const config =
		managerUrl === undefined
			? { server: address, ...modules(modelUrl), ...more }
			: { server: address, "manager-api": { url: managerUrl, secret: "interop" } };
	const folder = makeWorkFolder(join(checkout, "main", "xiaozhi-server"), config);
	mkdirSync(join(folder, "data", "bin"));
	for (const [name, content] of Object.entries(firmware)) {
		writeFileSync(join(folder, "data", "bin", name), content);
	}
	const program = await startPython(test, ["app.py"], (output) => output.includes("Websocket"), {
		cwd: folder,
		standIns: STAND_INS,
		hasSound,
	});
	return { program, url, otaUrl: `http://127.0.0.1:${httpPort}/xiaozhi/ota/` };
}

export function modules(modelUrl: string): object {
	return {
		selected_module: {
			VAD: "SileroVAD",
			ASR: "OpenaiASR",
			LLM: "DifyLLM",
			TTS: "OpenAITTS",
			Memory: "nomem",
			Intent: "function_call",
		},
		TTS: {
			OpenAITTS: {
				type: "openai",
				api_key: "interop",
				api_url: `${modelUrl}${SPEECH_PATH}`,
				format: "wav",
				output_dir: "tmp/",
			},
		},
		ASR: {
			OpenaiASR: {
				type: "openai",
				api_key: "interop",
				base_url: `${modelUrl}${TRANSCRIPTION_PATH}`,
				model_name: "scripted",
				output_dir: "tmp/",
			},
		},
		LLM: { DifyLLM: { type: "dify", base_url: modelUrl, api_key: "interop" } },
	};
}

/** The server writes beside its program: a folder of links leaves the checkout as it is. Configuration is YAML, or JSON. */
function makeWorkFolder(program: string, config: object): string {
	const folder = temporaryFolder();
	for (const name of readdirSync(program)) {
		if (name === "app.py") {
			copyFileSync(join(program, name), join(folder, name));
		} else if (name !== "data" && name !== "tmp") {
			symlinkSync(join(program, name), join(folder, name));
		}
	}
	mkdirSync(join(folder, "data"));
	writeFileSync(join(folder, "data", ".config.yaml"), JSON.stringify(config));
	return folder;
}
