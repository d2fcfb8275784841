import { utf8Length } from "../../src/core/text/utf8.js";
import { type Face, isOffered } from "../../src/hardware/hardware.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { TOOLS } from "../doubles/client.js";
import { FakeBoard, FakeCodec } from "../doubles/fake-board.js";
import type { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { inSession, request, start, startOn } from "../doubles/started-application.js";
import { equal, given, matches, ok, suite } from "../harness.js";

const NO_ALERT = { alert: { status: "", message: "" } };

function faceAfter(...messages: object[]): Partial<Face> {
	const { board, transport } = inSession();
	for (const message of messages) {
		transport.channel.say(message);
	}
	return Object.assign({}, ...board.shown);
}

const SENTENCE = { type: "tts", state: "sentence_start", text: "It rains." };

function beforeHello() {
	const board = new FakeBoard();
	const started = start(board);
	started.transport.channel.events.onOpen();
	return { ...started, board };
}

const call = (name: string, args: object = {}): object => request(7, "tools/call", { name, arguments: args });

export default suite("application, with a backend of the xiaozhi family", {
	"answers MCP before hello, and keeps what was agreed on": given(beforeHello, ({ transport, mcp, board }) => {
		mcp();
		transport.channel.say(request(10_000, "initialize", { protocolVersion: "2025-03-26", capabilities: {} }));
		transport.channel.say(request(10_001, "tools/list"));
		const [initialized, listed] = mcp();
		equal([initialized.session_id, initialized.payload.id], ["", 10_000]);
		equal(listed.payload.result.tools.length, TOOLS.filter((tool) => !tool.userOnly && isOffered(tool, board)).length);
		transport.channel.say({ type: "hello", session_id: "s-1" });
		mcp();
		transport.channel.say(call("no.such.tool"));
		const [answer] = mcp();
		equal([answer.session_id, answer.payload.error.code], ["s-1", -32_602]);
	}),
	"shows the code of a device that is not bound, which comes before hello"() {
		const { board, transport } = beforeHello();
		transport.channel.say({ type: "stt", text: "Your code is 123456" });
		equal(board.shown.at(-1), { message: "Your code is 123456" });
	},
	"answers MCP between two sessions, and forgets what the one before agreed on"() {
		const { transport, mcp } = inSession(undefined, { saysGoodbye: true });
		transport.channel.say(request(1, "initialize", { protocolVersion: "2025-11-25" }));
		transport.channel.say({ type: "goodbye", session_id: "s-1" });
		mcp();
		transport.channel.say(call("no.such.tool"));
		const [answer] = mcp();
		equal([answer.session_id, answer.payload.error.code], ["", -32_601]);
	},
	"an emotion without words leaves the sentence that is shown"() {
		for (const text of [undefined, null, 5, "", "😀", "👩‍🚀", "☺️", " 😶 ", "🇯🇵", "?!", "…", "〰", "㊗️"]) {
			const face = faceAfter(SENTENCE, { type: "llm", emotion: "happy", text });
			equal([face.message, face.emotion], ["It rains.", "happy"], String(text));
		}
	},
	"an emotion with words shows them"() {
		for (const text of ["Hi 😀", "7", "猫", "ん", "é", "Привет", "안녕"]) {
			equal(faceAfter(SENTENCE, { type: "llm", emotion: "happy", text }).message, text);
		}
	},
	"words without an emotion leave the face"() {
		const happy = { type: "llm", emotion: "happy" };
		for (const message of [
			{ type: "llm", text: "Hi" },
			{ type: "llm", emotion: "", text: "Hi" },
			{ type: "alert", status: "s", message: "m" },
			{ type: "alert", status: "s", message: "m", emotion: 5 },
		]) {
			equal(faceAfter(happy, message).emotion, "happy");
		}
	},
	"a message without its text changes nothing"() {
		for (const message of [
			{ type: "stt" },
			{ type: "stt", text: 5 },
			{ type: "tts", state: "sentence_start" },
			{ type: "custom" },
			{ type: "custom", payload: 5 },
			{ type: "llm" },
			{ type: "alert" },
		]) {
			const { board, transport } = inSession();
			board.shown.length = 0;
			transport.channel.say(message);
			equal(board.shown, []);
		}
	},
	"an alert goes away after ten seconds": given(inSession, ({ board, transport, timer }) => {
		transport.channel.say({ type: "alert", status: "Warning", message: "hot", emotion: "sad" });
		timer.pass(6_000);
		transport.channel.say({ type: "alert", status: "Warning", message: "hotter", emotion: "sad" });
		timer.pass(9_999);
		equal(board.shown.at(-1), { alert: { status: "Warning", message: "hotter" }, emotion: "sad" });
		timer.pass(1);
		equal(board.shown.at(-1), { ...NO_ALERT, emotion: "neutral" });
	}),
	"the emotion that came with an alert goes with it, unless there is a newer one"() {
		const { board, transport, timer } = inSession();
		transport.channel.say({ type: "llm", emotion: "happy" });
		transport.channel.say({ type: "alert", status: "Warning", message: "hot", emotion: "sad" });
		transport.channel.say({ type: "alert", status: "Warning", message: "hotter" });
		timer.pass(10_000);
		equal(board.shown.at(-1), { ...NO_ALERT, emotion: "happy" });
		transport.channel.say({ type: "alert", status: "Warning", message: "hot", emotion: "sad" });
		transport.channel.say({ type: "llm", emotion: "cool" });
		timer.pass(10_000);
		equal(board.shown.at(-1), { ...NO_ALERT, emotion: "cool" });
	},
	"an emoji without an emotion's word is the emotion": given(inSession, ({ board, transport }) => {
		board.shown.length = 0;
		for (const message of [{ text: "😭" }, { text: "😭", emotion: "happy" }, { text: "Oh! 😭" }, { text: "…" }]) {
			transport.channel.say({ type: "llm", ...message });
		}
		equal(board.shown, [{ emotion: "😭" }, { emotion: "happy" }, { message: "Oh! 😭" }]);
	}),
	"a long alert stays until it can be read: 150 ms a character": given(inSession, ({ board, transport, timer }) => {
		transport.channel.say({ type: "alert", status: "", message: "电".repeat(100) });
		timer.pass(14_900);
		equal(board.shown.at(-1), { alert: { status: "", message: "电".repeat(100) } });
		timer.pass(200);
		equal(board.shown.at(-1), { ...NO_ALERT, emotion: "neutral" });
	}),
	"an alert goes away when the state changes": given(inSession, ({ board, transport, timer }) => {
		transport.channel.say({ type: "alert", status: "Warning", message: "hot", emotion: "sad" });
		transport.channel.say({ type: "tts", state: "start" });
		equal(board.shown.at(-1), { state: "speaking", emotion: "neutral", ...NO_ALERT });
		board.shown.length = 0;
		transport.channel.say({ type: "tts", state: "stop" });
		timer.pass(20_000);
		equal(board.shown, [{ state: "idle" }]);
	}),
	"an answer that is longer than the backend takes is an error with the request's id"() {
		const board = Object.assign(new FakeBoard(), { name: "語".repeat(2_000) });
		for (const [maxSentBytes, isSent] of [
			[5_000, false],
			[8_000, true],
		] as const) {
			const { transport, mcp, application } = inSession(board, { maxSentBytes });
			mcp();
			transport.channel.say(request(7, "initialize", {}));
			const [{ session_id, payload }] = mcp();
			equal([session_id, payload.id, payload.result !== undefined], ["s-1", 7, isSent]);
			if (!isSent) {
				matches(payload.error.message, /^Internal error: response of \d+ bytes \(limit of this connection: 5000\)/);
			}
			equal(application.state, "idle");
		}
	},
	"a page with one tool that is longer than the backend takes is an error, too"() {
		const { transport, mcp } = inSession(undefined, { maxSentBytes: 300 });
		mcp();
		transport.channel.say(request(7, "tools/list"));
		const [{ payload }] = mcp();
		equal([payload.id, payload.error.code], [7, -32_603]);
	},
	"a result that is longer than the device may queue is an error with the request's id, and the session stays"() {
		const huge = defineTool({ name: "huge", description: "", needs: [], run: () => "x".repeat(20_000) });
		const { application, greet } = startOn({ built: { chunkBytes: 65_536 }, tools: [huge] });
		const socket = greet();
		socket.arrive([JSON.stringify(request(7, "tools/call", { name: "huge" }))]);
		socket.grant(10_000);
		const { payload } = JSON.parse(socket.messages.at(-1) as string);
		equal([payload.id, payload.error?.code, application.backend.session?.id], [7, -32_603, "s-1"]);
	},
	"a list is paged for a backend that takes less than a page"() {
		const { transport, mcp, application } = inSession();
		transport.channel.say({ type: "hello", session_id: "s-1", max_message_bytes: 2_000 });
		mcp();
		const names: string[] = [];
		let cursor: string | undefined = "";
		for (let id = 1; cursor !== undefined; id += 1) {
			transport.channel.say(request(id, "tools/list", { cursor }));
			const [{ payload, ...envelope }] = mcp();
			ok(utf8Length(JSON.stringify({ ...envelope, payload })) <= 2_000);
			names.push(...payload.result.tools.map(({ name }: { name: string }) => name));
			cursor = payload.result.nextCursor;
		}
		const common = [...application.server.tools.byName.values()].filter(({ userOnly }) => !userOnly);
		equal(
			names,
			common.map(({ name }) => name),
		);
	},
	"what is longer than the backend takes and answers nothing is dropped and logged"() {
		const { application, mcp, log } = inSession(undefined, { maxSentBytes: 600 });
		mcp();
		application.server.notify("notifications/big", { text: "x".repeat(1_000) });
		equal(mcp(), []);
		matches(log.at(-1) as string, /dropped: longer than 600 bytes/);
	},
	"names no audio format in its hello if the setting says so, unless the board has a codec"() {
		const withCodec = (): FakeBoard => Object.assign(new FakeBoard(), { codec: new FakeCodec() });
		for (const [audioParams, board, expected] of [
			["false", new FakeBoard(), undefined],
			["true", new FakeBoard(), "opus"],
			["false", withCodec(), "opus"],
		] as const) {
			const [socket] = startOn({ board, built: { audioParams } }).sockets() as [FakeWebSocketClient];
			socket.grant(10_000);
			equal(JSON.parse(socket.messages[0] as string).audio_params?.format, expected);
		}
	},
});
