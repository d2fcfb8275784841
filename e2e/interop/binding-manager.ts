import { createServer } from "node:http";
import type { TestContext } from "node:test";
import { listen } from "../../host-test/support/testing.js";
import { modules } from "./xiaozhi-server.js";

/** The code with which the server's devices are bound. */
export const BINDING_CODE = "246810";

export class BindingManager {
	bound = false;
	url = "";

	static async listen(test: TestContext, modelUrl: string): Promise<BindingManager> {
		const manager = new BindingManager();
		const server = createServer((request, response) => {
			request.resume();
			response.setHeader("content-type", "application/json");
			response.end(JSON.stringify(manager.#answer(request.url ?? "", modelUrl)));
		});
		manager.url = `http://127.0.0.1:${await listen(test, server)}`;
		return manager;
	}

	#answer(path: string, modelUrl: string): object {
		if (path.endsWith("/config/server-base")) {
			return { code: 0, data: { ...serverConfiguration(), ...modules(modelUrl) } };
		}
		if (path.endsWith("/config/agent-models") && !this.bound) {
			return { code: 10042, msg: BINDING_CODE };
		}
		return { code: 0, data: {} };
	}
}

/** The server's own file without a manager. */
function serverConfiguration(): object {
	return {
		log: { log_level: "INFO", log_dir: "tmp", data_dir: "data" },
		server: {},
		xiaozhi: {
			type: "hello",
			version: 1,
			transport: "websocket",
			audio_params: { format: "opus", sample_rate: 24_000, channels: 1, frame_duration: 60 },
		},
		VAD: { SileroVAD: { type: "silero", model_dir: "models/snakers4_silero-vad" } },
		ASR: { OpenaiASR: { type: "openai", api_key: "", base_url: "http://127.0.0.1:9", output_dir: "tmp" } },
		TTS: { OpenAITTS: { type: "openai", api_key: "", api_url: "http://127.0.0.1:9", output_dir: "tmp" } },
		Memory: { nomem: { type: "nomem" } },
		Intent: { function_call: { type: "function_call", functions: [] } },
		plugins: {},
		prompt: "You are a test.",
		prompt_template: "agent-base-prompt.txt",
		exit_commands: [],
		wakeup_words: [],
		enable_wakeup_words_response_cache: false,
	};
}
