import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A call that the model makes whatever it is asked: the tool's name as the server shows it to models. */
export interface ScriptedCall {
	readonly name: string;
	readonly arguments: Record<string, unknown>;
}

/** A language model with the HTTP API of Dify, which asks for one call, and then repeats what the call gave. */
export class ScriptedModel {
	/** What the server sent as results of calls. */
	readonly results: string[] = [];
	call: ScriptedCall;
	url = "";

	private constructor(call: ScriptedCall) {
		this.call = call;
	}

	static async listen(test: TestContext, call: ScriptedCall): Promise<ScriptedModel> {
		const model = new ScriptedModel(call);
		const server = createServer(async (request, response) => {
			const { query } = (await readJson(request)) as { query: string };
			response.end(`data: ${JSON.stringify({ event: "message", answer: model.#answer(query) })}\n\n`);
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		test.after(() => server.close());
		model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		return model;
	}

	#answer(query: string): string {
		const result = /tool call result: (.*?)\n\n/s.exec(query)?.[1];
		if (result !== undefined) {
			this.results.push(result);
			return `The tool says: ${result}`;
		}
		return `<tool_call>${JSON.stringify(this.call)}</tool_call>`;
	}
}

async function readJson(request: IncomingMessage): Promise<unknown> {
	let text = "";
	for await (const chunk of request) {
		text += chunk;
	}
	return JSON.parse(text);
}
