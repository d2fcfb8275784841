import { audio } from "../../src/mcp_server/content.js";
import { Completion } from "../../src/mcp_server/features/completion.js";
import { assistant, createPrompt, Prompts, user } from "../../src/mcp_server/features/prompts.js";
import { createResource, embeddedResource, Resources } from "../../src/mcp_server/features/resources.js";
import { Client } from "../doubles/client.js";
import { equal, given, suite, throws } from "../harness.js";

const greet = createPrompt({
	name: "greet",
	title: "Greet",
	description: "Says hello.",
	arguments: {
		who: { description: "A name", required: true, complete: ["ann", "anna", "bob"] },
		tone: { title: "Tone", complete: async (typed, { who }) => [`${typed}:${who}`] },
	},
	get: ({ who, tone }) => `Hello ${who}, ${tone ?? "plain"}`,
});
const talk = createPrompt({
	name: "talk",
	get: async () => [
		user(embeddedResource({ uri: "note://one", mimeType: "text/plain", data: "first" })),
		assistant("I see."),
		user(audio("AAAA", "audio/wav")),
	],
});
const lines = createResource<undefined, "log://{day}">({
	uri: "log://{day}",
	name: "lines",
	complete: { day: () => Array.from({ length: 150 }, (_, at) => `${at}`) },
	read: () => "",
});

function makeClient() {
	const prompts = new Prompts<undefined>([greet, talk]);
	const resources = new Resources<undefined>([lines]);
	const features = [prompts, resources, new Completion({ prompts, resources })];
	const client = new Client<undefined>({ context: undefined, features });
	const get = (name: string, args?: object) => client.ask("prompts/get", { name, arguments: args });
	return { client, prompts, get };
}

const complete = (ref: object, argument: object, chosen?: object): [string, object] => [
	"completion/complete",
	{ ref, argument, context: chosen && { arguments: chosen } },
];
const greeting = { type: "ref/prompt", name: "greet" };

export const PROMPTS = suite("prompts", {
	"are listed with their arguments": given(makeClient, ({ client }) => {
		equal(client.initialize("2025-11-25").result.capabilities.prompts, { listChanged: true });
		equal(client.ask("prompts/list").result.prompts, [
			{
				name: "greet",
				title: "Greet",
				description: "Says hello.",
				arguments: [
					{ name: "who", description: "A name", required: true },
					{ name: "tone", title: "Tone" },
				],
			},
			{ name: "talk" },
		]);
	}),
	"are listed with a single argument, too": given(makeClient, ({ client, prompts }) => {
		prompts.add(createPrompt({ name: "one", arguments: { only: {} }, get: ({ only }) => `${only}` }));
		client.heard();
		equal(client.ask("prompts/list").result.prompts[2], { name: "one", arguments: [{ name: "only" }] });
	}),
	"are made with the arguments given"() {
		equal(makeClient().get("greet", { who: "ann", other: "x" }).result, {
			description: "Says hello.",
			messages: [{ role: "user", content: { type: "text", text: "Hello ann, plain" } }],
		});
	},
	async "hold messages of both roles, with contents that the client's revision has"() {
		const [{ result }] = await makeClient().client.request("prompts/get", { name: "talk" });
		equal(result.messages, [
			{
				role: "user",
				content: { type: "resource", resource: { uri: "note://one", mimeType: "text/plain", text: "first" } },
			},
			{ role: "assistant", content: { type: "text", text: "I see." } },
			{ role: "user", content: { type: "text", text: "(audio/wav sound)" } },
		]);
	},
	"reject what is unknown, missing or no text": given(makeClient, ({ get }) => {
		equal(get("nobody").error, { code: -32602, message: "Unknown prompt: nobody" });
		equal(get("greet").error, { code: -32602, message: "who: missing, expected a string" });
		equal(get("greet", { who: "ann", tone: 1 }).error, { code: -32602, message: "tone: expected a string" });
	}),
	"can be added and removed while clients are told, and their arguments are read from then on"() {
		const { client, prompts } = makeClient();
		prompts.add(createPrompt({ name: "new", arguments: { depth: {} }, get: ({ depth }) => `${depth}` }));
		equal(client.heard(), [{ jsonrpc: "2.0", method: "notifications/prompts/list_changed" }]);
		equal(client.server.allNames.includes("depth"), true);
		throws(() => prompts.add(greet), /greet is already registered/);
		equal([prompts.remove("new"), prompts.remove("new")], [true, false]);
		equal(client.heard().length, 1);
		equal(client.server.allNames.includes("depth"), false);
		equal([prompts.remove("greet"), client.heard().length], [true, 1]);
		const names = client.ask("prompts/list").result.prompts.map(({ name }: { name: string }) => name);
		equal(names, ["talk"]);
	},
});

export const COMPLETION = suite("completion", {
	"suggests what begins with the text typed so far": given(makeClient, ({ client }) => {
		equal(client.initialize("2025-11-25").result.capabilities.completions, {});
		equal(client.ask(...complete(greeting, { name: "who", value: "an" })).result, {
			completion: { values: ["ann", "anna"], total: 2, hasMore: false },
		});
	}),
	async "hands on the arguments that are chosen already, and waits"() {
		const request = complete(greeting, { name: "tone", value: "so" }, { who: "bob" });
		const [{ result }] = await makeClient().client.request(...request);
		equal(result.completion.values, ["so:bob"]);
	},
	"suggests at most 100 values for a template's variable"() {
		const ref = { type: "ref/resource", uri: "log://{day}" };
		const { completion } = makeClient().client.ask(...complete(ref, { name: "day", value: "" })).result;
		equal([completion.values.length, completion.total, completion.hasMore], [100, 150, true]);
	},
	"suggests nothing for an argument without suggestions": given(makeClient, ({ client }) => {
		for (const name of ["other", "constructor"]) {
			equal(client.ask(...complete(greeting, { name, value: "" })).result.completion.values, []);
		}
	}),
	"is the only method of its feature"() {
		equal(makeClient().client.ask("completion/other", { ref: greeting }).error.code, -32601);
	},
	"names what is wrong with a request": given(makeClient, ({ client }) => {
		const argument = { name: "who", value: "" };
		const message = (params: [string, object]) => client.ask(...params).error.message;
		equal(message(complete({ type: "ref/tool" }, argument)), "ref.type: expected ref/prompt or ref/resource");
		equal(message(complete({ type: "ref/prompt", name: "no" }, argument)), "Unknown prompt: no");
		equal(message(complete({ type: "ref/resource", uri: "no" }, argument)), "Unknown resource template: no");
		equal(message(complete(greeting, { name: "who" })), "value: expected what is typed so far");
		equal(message(["completion/complete", { ref: greeting }]), "argument: expected an object");
	}),
});
