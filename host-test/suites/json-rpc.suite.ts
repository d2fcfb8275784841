import { McpServer } from "../../src/mcp_server/mcp-server.js";
import { clientWith, numbered, tool } from "../doubles/client.js";
import { equal, given, matches, suite } from "../harness.js";

const client = () => clientWith(tool("echo", () => "echo"));

function code(text: string, revision?: string): { id: unknown; code: number; answers: number } {
	const peer = client();
	if (revision !== undefined) {
		peer.initialize(revision);
	}
	const answers = peer.say(text);
	matches(answers[0].error.message, /./);
	return { id: "id" in answers[0] ? answers[0].id : "left out", code: answers[0].error.code, answers: answers.length };
}

export default suite("JSON-RPC 2.0", {
	"echoes integer and string ids exactly"() {
		for (const id of [0, 1, -7, 9007199254740991, "", "1", 'a"b\\c\n', "日本語😀", "x".repeat(300)]) {
			equal(client().ask("ping", undefined, id), { jsonrpc: "2.0", id, result: {} });
		}
	},
	"answers malformed JSON with a parse error"() {
		for (const text of ["", "{", "nul", '{"a":1,}', '{"jsonrpc":"2.0","id":1,"method":"ping"', "\u0000"]) {
			equal(code(text), { id: null, code: -32700, answers: 1 }, text);
		}
	},
	"answers JSON that nests too deep with invalid request"() {
		equal(code("[".repeat(5000) + "]".repeat(5000)), { id: null, code: -32600, answers: 1 });
	},
	"answers a request that was too large to be read under its id, and nothing that has none": given(client, (peer) => {
		peer.session.reject({ jsonrpc: "2.0", id: "a" }, "9000 bytes (limit 8192)");
		for (const message of [{}, { id: null }, { id: [] }, undefined, 5]) {
			peer.session.reject(message, "too long");
		}
		equal(peer.heard(), [
			{
				jsonrpc: "2.0",
				id: "a",
				error: { code: -32600, message: "Invalid request: 9000 bytes (limit 8192)" },
			},
		]);
	}),
	"quotes the first 128 characters of a client's words, and all of what is no longer"() {
		const first = `a${"b".repeat(127)}`;
		equal(client().ask("tools/call", { name: first }).error.message, `Unknown tool: ${first}`);
		equal(client().ask("tools/call", { name: `${first}c` }).error.message, `Unknown tool: ${first}…`);
		equal(client().ask(`${first}c`).error.message, `Method not found: ${first}…`);
	},
	"treats an id that is too long to echo as if it were missing"() {
		equal(client().ask("ping", undefined, "x".repeat(1024)).id.length, 1024);
		equal(code(`{"jsonrpc":"2.0","id":"${"x".repeat(1025)}","method":"ping"}`), { id: null, code: -32600, answers: 1 });
	},
	"rejects a batch with more messages than calls may be in progress"() {
		const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
		equal(client().say(`[${Array(16).fill(ping).join(",")}]`)[0].length, 16);
		equal(code(`[${Array(17).fill(ping).join(",")}]`).code, -32600);
	},
	"answers no more of a batch when its answers fill half a page"() {
		const words = tool("words", () => "x".repeat(3000));
		const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"words"}}';
		const [answers] = clientWith(words).say(`[${Array(8).fill(call).join(",")}]`);
		const outcomes = answers.map(({ error }: { error?: { code: number } }) => error?.code ?? "done");
		equal(outcomes, ["done", "done", -32600, -32600, -32600, -32600, -32600, -32600]);
	},
	"counts the pages of lists in a batch"() {
		const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
		const [answers] = clientWith(...numbered(40, "x".repeat(400))).say(`[${list},${list}]`);
		const outcomes = [answers[0].result.tools.length > 1, answers[1].error?.message];
		equal(outcomes, [true, "Invalid request: the batch response is full"]);
	},
	"answers a message that is not a request with invalid request"() {
		for (const text of [
			"1",
			'"ping"',
			"null",
			"true",
			"{}",
			'{"jsonrpc":"2.0"}',
			'{"jsonrpc":"2.0","method":1,"params":"bar"}',
		]) {
			equal(code(text), { id: null, code: -32600, answers: 1 }, text);
		}
	},
	"answers a request without method, or whose jsonrpc is not 2.0, with invalid request under its id"() {
		equal(code('{"jsonrpc":"2.0","id":5}'), { id: 5, code: -32600, answers: 1 });
		equal(code('{"jsonrpc":"1.0","id":"a","method":"ping"}'), { id: "a", code: -32600, answers: 1 });
		equal(code('{"id":6,"method":"ping"}'), { id: 6, code: -32600, answers: 1 });
	},
	"answers an invalid id with invalid request, and null as the id"() {
		for (const id of ["null", "true", "1.5", "{}", "[1]", "1e400", "9007199254740993"]) {
			equal(code(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`), { id: null, code: -32600, answers: 1 }, id);
		}
	},
	"leaves an unreadable id out since 2025-11-25, which has no null"() {
		equal(code("{", "2025-11-25"), { id: "left out", code: -32700, answers: 1 });
		equal(code("{", "2025-06-18"), { id: null, code: -32700, answers: 1 });
	},
	"answers params that are an array with invalid params"() {
		equal(code('{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}'), { id: 1, code: -32602, answers: 1 });
	},
	"answers params that are neither object nor array with invalid request"() {
		for (const params of ["1", '"a"', "true"]) {
			equal(code(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`), { id: 1, code: -32600, answers: 1 });
		}
	},
	"takes params that are null as absent"() {
		equal(client().say('{"jsonrpc":"2.0","id":1,"method":"ping","params":null}')[0].result, {});
	},
	"drops a response whose method is null": given(client, (peer) => {
		equal(peer.say('{"jsonrpc":"2.0","id":1,"method":null,"result":{},"error":null}'), []);
		equal(peer.log, ["unexpected response, id 1: dropped"]);
	}),
	"answers an unknown method by its name"() {
		const { error } = client().ask("resources/list");
		equal(error, { code: -32601, message: "Method not found: resources/list" });
	},
	"escapes what it quotes of the client's words"() {
		const name = 'no "such"\\tool\n';
		equal(client().ask("tools/call", { name }).error.message, `Unknown tool: ${name}`);
	},
	"never answers a notification, whatever is wrong with it"() {
		for (const text of [
			'{"jsonrpc":"2.0","method":"notifications/initialized"}',
			'{"jsonrpc":"2.0","method":"notifications/nonsense","params":5}',
			'{"jsonrpc":"2.0","method":"tools/list"}',
			'{"method":"no/such"}',
			'{"jsonrpc":"2.0","id":3,"method":"notifications/initialized"}',
			'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
			'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
		]) {
			equal(client().say(text), [], text);
		}
	},
	"drops responses to requests that nobody made, and logs it": given(clientWith, (peer) => {
		equal(peer.say('{"jsonrpc":"2.0","id":1,"result":{}}'), []);
		equal(peer.say('{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}'), []);
		const silent = new McpServer({ name: "no log", version: "", context: undefined });
		silent.open({ send() {} }).receive({ jsonrpc: "2.0", id: 1, result: {} });
		equal(peer.log, ["unexpected response, id 1: dropped", 'unexpected response, id "a": dropped']);
	}),
	"answers a batch with one array until 2025-03-26"() {
		for (const revision of [undefined, "2024-11-05", "2025-03-26"]) {
			const peer = client();
			if (revision !== undefined) {
				peer.initialize(revision);
			}
			const [answers] = peer.say(
				'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},7,{"jsonrpc":"2.0","id":2,"method":"x"}]',
			);
			equal(answers.length, 3);
			equal(answers[0].result, {});
			equal([answers[1].id, answers[1].error.code], [null, -32600]);
			equal([answers[2].id, answers[2].error.code], [2, -32601]);
		}
	},
	"answers a batch of notifications with nothing, an empty one with invalid request"() {
		equal(client().say('[{"jsonrpc":"2.0","method":"notifications/initialized"}]'), []);
		equal(code("[]"), { id: null, code: -32600, answers: 1 });
	},
	"rejects initialize in a batch"() {
		const [answers] = client().say('[{"jsonrpc":"2.0","id":1,"method":"initialize"}]');
		equal(answers[0].error.code, -32600);
	},
	"rejects a batch since 2025-06-18"() {
		for (const revision of ["2025-06-18", "2025-11-25"]) {
			equal(code('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', revision).code, -32600);
		}
	},
});
