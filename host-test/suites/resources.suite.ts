import { OFFERED, STATE_URI } from "../../src/features/resources/offered.js";
import type { Hardware } from "../../src/hardware/hardware.js";
import { createResource, type Resource, Resources } from "../../src/mcp_server/features/resources.js";
import { matchTemplate, parseTemplate } from "../../src/mcp_server/features/uri-template.js";
import { Client } from "../doubles/client.js";
import { equal, given, matches, ok, settled, suite, throws } from "../harness.js";

function clientOf(offered: readonly Resource<undefined>[] = []) {
	const resources = new Resources<undefined>(offered);
	const client = new Client<undefined>({ context: undefined, features: [resources] });
	const read = (uri: string) => client.ask("resources/read", { uri });
	return { client, resources, read };
}

const NOTE = {
	uri: "note://one",
	name: "one",
	title: "One",
	description: "A note.",
	mimeType: "text/plain",
	annotations: { audience: ["user"], priority: 0.5 },
} as const;
const note = createResource<undefined, "note://one">({ ...NOTE, read: () => "first" });
const line = createResource<undefined, "log://lines/{at}">({
	uri: "log://lines/{at}",
	name: "line",
	mimeType: "application/json",
	read: ({ at }) => ({ at }),
});
const numbered = (count: number) =>
	Array.from({ length: count }, (_, at) =>
		createResource<undefined, string>({
			uri: `note://${at}`,
			name: `${at}`,
			description: "ä".repeat(100),
			read: () => "",
		}),
	);

const plain = (name: string, read: () => string | ArrayBuffer | Promise<string>) =>
	createResource<undefined, string>({ uri: `note://${name}`, name, read });

function matched(template: string, uri: string): unknown {
	const parsed = parseTemplate(template);
	return parsed && matchTemplate(parsed, uri);
}

const withNote = () => clientOf([note]);

export default suite("resources", {
	"are a capability of the server that has them"() {
		equal(clientOf().client.initialize("2025-11-25").result.capabilities, {
			tools: { listChanged: true },
			resources: { subscribe: true, listChanged: true },
		});
	},
	"name the parts of a board, and not its pins of a fixed level"() {
		const board = {
			name: "lamp",
			battery: { level: 100, charging: false },
			outputs: [{}],
		};
		const client = new Client({ context: board as Hardware, features: [new Resources<Hardware>(OFFERED)] });
		client.initialize("2025-11-25");
		const { contents } = client.ask("resources/read", { uri: STATE_URI }).result;
		equal(JSON.parse(contents[0].text).parts, ["battery"]);
	},
	"are listed apart from their templates"() {
		const { client } = clientOf([note, line]);
		equal(client.ask("resources/list").result, { resources: [NOTE] });
		equal(client.ask("resources/templates/list").result, {
			resourceTemplates: [{ uriTemplate: "log://lines/{at}", name: "line", mimeType: "application/json" }],
		});
	},
	"are listed in pages that are no larger than they may be, each resource once"() {
		const resources = new Resources<undefined>(numbered(30));
		const client = new Client<undefined>({
			context: undefined,
			features: [resources],
			pageBytes: 1_000,
		});
		const uris: string[] = [];
		let cursor: string | undefined;
		do {
			client.session.receiveText(
				JSON.stringify({ jsonrpc: "2.0", id: 7, method: "resources/list", params: { cursor } }),
			);
			const text = client.texts.pop() as string;
			ok(ArrayBuffer.fromString(text).byteLength <= 1_000, `${text.length} characters`);
			const { result } = JSON.parse(text);
			uris.push(...result.resources.map(({ uri }: { uri: string }) => uri));
			cursor = result.nextCursor;
		} while (cursor !== undefined);
		const all = numbered(30).map(({ key }) => key);
		equal(uris, all);
	},
	"reject a cursor that no list gave": given(withNote, ({ client }) => {
		equal(client.ask("resources/list", { cursor: "note://two" }).error.code, -32602);
		equal(client.ask("resources/list", { cursor: 1 }).error.message, "cursor: expected a string");
	}),
	"are read as text, as JSON, and as bytes in base64"() {
		const bytes = createResource<undefined, "note://bytes">({
			uri: "note://bytes",
			name: "bytes",
			mimeType: "image/jpeg",
			read: () => ArrayBuffer.fromString("12345"),
		});
		const { read } = clientOf([note, line, bytes]);
		const contents = (uri: string) => read(uri).result.contents;
		equal(contents("note://one"), [{ uri: "note://one", mimeType: "text/plain", text: "first" }]);
		equal(contents("log://lines/7"), [{ uri: "log://lines/7", mimeType: "application/json", text: '{"at":"7"}' }]);
		equal(contents("note://bytes"), [{ uri: "note://bytes", mimeType: "image/jpeg", blob: "MTIzNDU=" }]);
	},
	"encode bytes of every length"() {
		const values = [[], [97], [97, 98], [97, 98, 99], [97, 98, 99, 100], [255, 0, 254]];
		const blobs = values.map((bytes) => {
			const resource = plain("x", () => Uint8Array.from(bytes).buffer);
			return clientOf([resource]).read("note://x").result.contents[0].blob;
		});
		equal(blobs, ["", "YQ==", "YWI=", "YWJj", "YWJjZA==", "/wD+"]);
	},
	async "may be read in time, and a read that is cancelled gets no answer"() {
		let finish: (text: string) => void = () => {};
		const slow = plain(
			"slow",
			() =>
				new Promise<string>((resolve) => {
					finish = resolve;
				}),
		);
		const { client } = clientOf([slow]);
		const ask = (id: number) =>
			client.say(`{"jsonrpc":"2.0","id":${id},"method":"resources/read","params":{"uri":"note://slow"}}`);
		equal(ask(1), []);
		finish("late");
		await settled();
		equal(client.heard()[0].result.contents[0].text, "late");
		ask(2);
		client.cancel(2);
		finish("too late");
		await settled();
		equal(client.heard(), []);
	},
	async "that fail to be read answer with an error"() {
		const broken = plain("broken", () => {
			throw new Error("no paper");
		});
		const later = plain("later", () => Promise.reject(new Error("no ink")));
		const { client, read } = clientOf([broken, later]);
		equal(read("note://broken").error, { code: -32603, message: "Internal error: no paper" });
		const [{ error }] = await client.request("resources/read", { uri: "note://later" });
		equal(error.message, "Internal error: no ink");
	},
	"that are not known answer with the URI that was asked for": given(withNote, ({ client, read }) => {
		equal(read("note://two").error, { code: -32002, message: "Resource not found", data: { uri: "note://two" } });
		equal(client.ask("resources/read", {}).error.message, "uri: expected the URI of a resource");
	}),
	"that are too large are rejected with their size"() {
		const large = plain("large", () => new ArrayBuffer(6_001));
		const { message } = clientOf([large]).read("note://large").error;
		equal(message, "Resource too large: 8004 bytes (limit 8000)");
		const fitting = plain("fitting", () => new ArrayBuffer(6_000));
		equal(clientOf([fitting]).read("note://fitting").result.contents[0].blob.length, 8_000);
		const long = plain("long", () => "ä".repeat(4_001));
		equal(clientOf([long]).read("note://long").error.message, "Resource too large: 8002 bytes (limit 8000)");
	},
	"tell of updates only the sessions that have subscribed": given(withNote, ({ client, resources }) => {
		const texts: string[] = [];
		client.server.open({ send: (text) => texts.push(String(text)) });
		equal(client.ask("resources/subscribe", { uri: "note://one" }).result, {});
		equal(client.ask("resources/subscribe", { uri: "note://one" }).result, {});
		resources.updated("note://one");
		equal(client.heard(), [
			{ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "note://one" } },
		]);
		equal(texts, []);
		equal(client.ask("resources/unsubscribe", { uri: "note://one" }).result, {});
		resources.updated("note://one");
		equal(client.heard(), []);
	}),
	"forget the subscriptions of a session that has ended"() {
		const { client, resources } = clientOf([note]);
		client.ask("resources/subscribe", { uri: "note://one" });
		client.session.close();
		resources.updated("note://one");
		equal(client.heard(), []);
	},
	"reject the end of a subscription without a URI": given(withNote, ({ client }) => {
		equal(client.ask("resources/unsubscribe").error.code, -32602);
	}),
	"limit the subscriptions of a session"() {
		const { client } = clientOf([line]);
		const subscribe = (uri: string) => client.ask("resources/subscribe", { uri });
		subscribe("log://lines/1");
		for (let at = 1; at <= 32; at += 1) {
			equal(subscribe(`log://lines/${at}`).result, {});
		}
		matches(subscribe("log://lines/33").error.message, /limit 32/);
		matches(subscribe(`log://lines/${"x".repeat(2_000)}`).error.message, /at most 1024 characters/);
		const longest = (length: number): string => `log://lines/${"x".repeat(length - "log://lines/".length)}`;
		matches(subscribe(longest(1_025)).error.message, /at most 1024 characters/);
		matches(subscribe(longest(1_024)).error.message, /limit 32/);
		equal(subscribe("note://one").error.code, -32002);
	},
	"can be added and removed while clients are told": given(clientOf, ({ client, resources }) => {
		const change = { jsonrpc: "2.0", method: "notifications/resources/list_changed" };
		resources.add(note);
		equal(client.heard(), [change]);
		throws(() => resources.add(note), /note:\/\/one is already registered/);
		equal([resources.remove("note://one"), resources.remove("note://one")], [true, false]);
		equal(client.heard(), [change]);
		equal(client.ask("resources/list").result, { resources: [] });
	}),
	"match templates piece by piece, percent signs decoded"() {
		equal(matched("log://{day}/lines/{at}", "log://monday/lines/7%20b"), { day: "monday", at: "7 b" });
		equal(matched("log://{day}.txt", "log://monday.txt"), { day: "monday" });
		for (const uri of [
			"log://monday",
			"log:///lines/7",
			"log://a/b/lines/7",
			"log://monday/lines/",
			"log://x/lines/%E0",
		]) {
			equal(matched("log://{day}/lines/{at}", uri), undefined, uri);
		}
	},
	"are rejected when they are made with a template that is not simple, or without a scheme"() {
		for (const uri of ["log://{+path}", "log://{a}{b}", "log://{a", "log://a}", "log://{a,b}"]) {
			throws(() => parseTemplate(uri), /expected variables such as \{id\}/);
		}
		throws(() => createResource({ uri: "one", name: "one", read: () => "" }), /expected a URI/);
	},
});
