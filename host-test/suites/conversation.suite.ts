import type { SettingValue } from "../../src/core/settings-table.js";
import conversation from "../../src/features/conversation/feature.js";
import type { Assistant } from "../../src/hardware/assistant.js";
import { ProtocolError } from "../../src/protocols/envelope.js";
import { boardWithParts, FakeCodec } from "../doubles/fake-board.js";
import { inSession, request, SMALL_BUILD, start, voice } from "../doubles/started-application.js";
import { equal, given, matches, outcomeOf, settled, suite } from "../harness.js";

const FIRST_SIGN = 20_000;
const NEXT_SIGN = 60_000;
const SENSOR_PAUSE = 60_000;

const conversing = (events: SettingValue<"events"> = []) => ({
	features: [...SMALL_BUILD, conversation],
	built: { events: events.join() },
});

/** With speech, too. It does nothing on a board without a codec. */
const talkative = (events: SettingValue<"events"> = []) => {
	const { features, built } = conversing(events);
	return { features: [...features, voice], built };
};

const sayBy =
	({ application }: ReturnType<typeof start>) =>
	(text: string) =>
		outcomeOf((application.board.assistant as Assistant).say(text));

function boardWithChat() {
	const lines: string[] = [];
	const chat = { onLine: undefined as ((text: string) => void) | undefined, show: (line: string) => lines.push(line) };
	return Object.assign(boardWithParts(), { chat, transcript: lines });
}

function talking(events: SettingValue<"events"> = [], settings: object = {}, parts: object = {}) {
	const { features, built } = talkative(events);
	const board = Object.assign(boardWithChat(), parts);
	const started = inSession(board, {}, { features, built: { ...built, ...settings } });
	const { transport } = started;
	const sent = (): unknown[] =>
		transport.channel.sent
			.splice(0)
			.map((text) => JSON.parse(text))
			.filter(({ type }) => type !== "mcp" && type !== "hello");
	const hear = (...messages: object[]): void => {
		for (const message of messages) {
			transport.channel.say(message);
		}
	};
	return { ...started, board, lines: board.transcript, sent, hear, say: sayBy(started) };
}

function waking(codec?: FakeCodec) {
	const { transport, sent, ...made } = talking([], {}, codec && { codec });
	sent();
	/** Calls the tool. @returns the text of its result */
	const wake = async (): Promise<unknown> => {
		const call = { name: "self.remote_wakeup", arguments: { reason: "call from the kitchen" } };
		const { length } = transport.channel.sent;
		made.hear(request(7, "tools/call", call));
		await settled();
		const messages = transport.channel.sent.slice(length).map((text) => JSON.parse(text));
		const { payload } = messages.find(({ payload }) => payload?.id === 7) ?? {};
		return payload?.error?.message ?? payload?.result.content[0].text;
	};
	return { ...made, sent, wake };
}

const detect = (text: string): object => ({ session_id: "s-1", type: "listen", state: "detect", text });
const stt = (text: string): object => ({ type: "stt", text });
const tts = (state: string, text?: string): object => ({ type: "tts", state, ...(text !== undefined && { text }) });
const llm = (emotion: string): object => ({ type: "llm", emotion, text: "🙂" });
const weather = [stt("天气怎么样"), tts("start"), llm("happy"), tts("sentence_start", "今天天气很好,最高25度")];

export default suite("a conversation by text", {
	async "says a text as listen, detect, and has the assistant's whole answer"() {
		const { say, sent, hear } = talking();
		sent();
		const outcome = say("天气怎么样");
		equal(sent(), [detect("天气怎么样")]);
		hear(...weather, tts("sentence_start", "不会下雨。"));
		await settled();
		equal(outcome, {});
		hear(tts("stop"));
		await settled();
		equal(outcome, { value: { text: "今天天气很好,最高25度 不会下雨。", emotion: "happy" } });
	},
	"shows both sides on the screen and where it was typed, and tells them by MCP"() {
		const { board, lines, hear, mcp } = talking();
		mcp();
		hear(...weather, tts("stop"));
		const face = Object.assign({}, ...board.shown);
		equal([face.message, face.emotion], ["今天天气很好,最高25度", "happy"]);
		equal(lines, ["you: 天气怎么样", "assistant (happy): 今天天气很好,最高25度"]);
		const said = mcp().filter(({ payload }) => payload.method === "notifications/said");
		const texts = said.map(({ payload }) => payload.params);
		equal(texts, [
			{ role: "user", text: "天气怎么样" },
			{ role: "assistant", text: "今天天气很好,最高25度", emotion: "happy" },
		]);
	},
	async "rejects with words if the backend gives no sign, and as soon as it is told that there is no assistant"() {
		const { say, timer } = talking();
		const outcome = say("hello");
		await timer.passed(FIRST_SIGN - 1);
		equal(outcome, {});
		await timer.passed(1);
		equal(outcome, { error: "the backend gave no answer: it may have no assistant" });
		const { say: ask, hear, sent } = talking();
		hear({ type: "hello", session_id: "s-1", features: { listen: false } });
		sent();
		const told = ask("hello");
		await settled();
		equal(told, { error: "this backend has no assistant: it only passes on calls of tools" });
		equal(sent(), []);
	},
	async "takes what has come for the answer if the backend never says that it has ended"() {
		const { say, timer, hear } = talking();
		const outcome = say("hello");
		hear(...weather);
		await timer.passed(NEXT_SIGN - 1);
		equal(outcome, {});
		await timer.passed(1);
		equal(outcome.value?.text, "今天天气很好,最高25度");
	},
	async "interrupts an assistant that speaks, and does not take the rest for the answer"() {
		const { say, sent, hear } = talking();
		const first = say("one");
		hear(...weather);
		sent();
		const second = say("two");
		equal(sent(), [{ session_id: "s-1", type: "abort" }, detect("two")]);
		hear(tts("sentence_start", "more of one"), tts("stop"));
		hear(stt("two"), tts("start"), tts("sentence_start", "Two."), tts("stop"));
		await settled();
		equal(first.error, "interrupted");
		equal(second.value?.text, "Two.");
	},
	"gives up what waits if the session ends": given(talking, async ({ say, transport }) => {
		const outcome = say("hello");
		transport.channel.events.onClose(new ProtocolError("connection-closed", "x"));
		await settled();
		equal(outcome, { error: "no session with the backend" });
	}),
	async "begins a session to say something in, if sessions are on demand"() {
		const started = start(undefined, {}, "on-demand", conversing());
		const { transport } = started;
		const outcome = sayBy(started)("hello");
		transport.channel.greet();
		equal(JSON.parse(transport.channel.sent.at(-1) as string), detect("hello"));
		transport.channel.say(tts("start"));
		transport.channel.say(tts("stop"));
		await settled();
		equal(outcome.value, { text: "", emotion: "" });
	},
	"says why nothing can be said outside a network": given(talking, async ({ say, board }) => {
		board.network.online = false;
		board.network.onChange?.();
		const outcome = say("hello");
		await settled();
		equal(outcome, { error: "the device has no backend: it is idle" });
	}),
	async "says what a client of the device says with self.assistant.say, and answers it"() {
		const { hear, mcp, sent } = talking();
		mcp();
		hear(request(7, "tools/call", { name: "self.assistant.say", arguments: { text: "天气怎么样" } }));
		equal(sent(), [detect("天气怎么样")]);
		hear(...weather, tts("stop"));
		await settled();
		const answer = mcp().find(({ payload }) => payload.id === 7);
		equal(JSON.parse(answer.payload.result.content[0].text), { text: "今天天气很好,最高25度", emotion: "happy" });
	},
	"interrupts the assistant if that client cancels its call": given(talking, async ({ hear, sent, mcp }) => {
		hear(request(7, "tools/call", { name: "self.assistant.say", arguments: { text: "hello" } }), tts("start"));
		sent();
		hear({ type: "mcp", payload: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } } });
		equal(sent(), [{ session_id: "s-1", type: "abort" }]);
		await settled();
		const answers = mcp().filter(({ payload }) => payload.id === 7);
		equal(answers, []);
	}),
	"says what is typed, and shows why it has no answer": given(talking, async ({ board, sent, lines, timer }) => {
		sent();
		board.chat.onLine?.("hello");
		equal(sent(), [detect("hello")]);
		await timer.passed(FIRST_SIGN);
		equal(lines, ["assistant: the backend gave no answer: it may have no assistant"]);
	}),
	"shows the code that comes before hello as the backend's": given(boardWithChat, (board) => {
		const { transport } = start(board, {}, "always", conversing());
		transport.channel.events.onOpen();
		transport.channel.say(stt("Your code is 123456"));
		equal(board.transcript, ["backend: Your code is 123456"]);
	}),
	"listens again after the assistant has spoken, as the mode says"() {
		for (const [listenMode, after] of [
			["auto", "listening"],
			["realtime", "listening"],
			["manual", "idle"],
		] as const) {
			const { application, board, sent, hear } = talking([], { listenMode });
			sent();
			board.buttons.boot.press();
			const begin = { session_id: "s-1", type: "listen", state: "start", mode: listenMode };
			equal(sent(), [begin], listenMode);
			hear(tts("start"), tts("stop"));
			equal([application.state, sent()], [after, after === "idle" ? [] : [begin]], listenMode);
		}
	},
	"ends listening with listen, stop": given(talking, ({ board, sent, application }) => {
		board.buttons.boot.press();
		sent();
		board.buttons.boot.press();
		equal(sent(), [{ session_id: "s-1", type: "listen", state: "stop" }]);
		equal(application.state, "idle");
	}),
	"says events of the chosen kinds, and only while nobody speaks"() {
		const { board, sent, application, hear, timer } = talking(["button", "sensor"]);
		sent();
		board.buttons.boot.press();
		equal([application.state, sent()], ["idle", [detect('The button "boot" was pressed.')]]);
		board.buttons.side.press(true);
		equal(sent(), []);
		hear(tts("start"), tts("stop"));
		board.buttons.side.press(true);
		equal(sent(), [detect('The button "side" was held down.')]);
		hear(tts("start"), tts("stop"));
		board.sensors.room.onChange?.(30);
		board.sensors.room.onChange?.(31);
		equal(sent(), [detect('The sensor "room" (temperature) now measures 30 °C.')]);
		hear(tts("start"), tts("stop"));
		timer.pass(SENSOR_PAUSE);
		board.sensors.chip.onChange?.({ x: 1, y: 2 });
		equal(sent(), [detect('The sensor "chip" (temperature) now measures x 1 °C, y 2 °C.')]);
	},
	"says no events unless they are chosen"() {
		const { board, sent } = talking(["timer"]);
		sent();
		board.buttons.side.press();
		board.sensors.room.onChange?.(30);
		equal(sent(), []);
	},
	"is ready for a backend that wants to speak, while it is idle": given(talking, ({ sent, hear, board, log }) => {
		sent();
		hear({ type: "speak_request", text: "Dinner" });
		equal(sent(), [{ session_id: "s-1", type: "speak_ready", state: "ready" }]);
		equal(Object.assign({}, ...board.shown).message, "Dinner");
		hear(tts("start"), { type: "speak_request" });
		equal(sent(), []);
		matches(log.at(-1) as string, /speak_request dropped: the device is speaking/);
	}),
	"begins a session for it first"() {
		const { transport } = start(undefined, { saysGoodbye: true }, "on-demand", conversing());
		transport.channel.events.onOpen();
		transport.channel.say({ type: "speak_request" });
		equal(transport.channel.sent.length, 1);
		transport.channel.say({ type: "hello", session_id: "s-2" });
		equal(JSON.parse(transport.channel.sent.at(-1) as string), {
			session_id: "s-2",
			type: "speak_ready",
			state: "ready",
		});
	},
	"plays a sound for a notice, and shows its texts when they are due"() {
		const { hear, board, timer, lines, log } = talking();
		board.shown.length = 0;
		const { length } = board.player.sounds;
		const subtitles = [{ start_ms: 0, text: "Done." }, { start_ms: 1_800, text: "Saved." }, { text: 5 }, "x"];
		hear({ type: "notify", audio_url: "http://h/a.ogg", subtitles });
		equal([board.shown, board.player.sounds.length - length], [[{ message: "Done." }], 1]);
		matches(log.at(-1) as string, /http:\/\/h\/a\.ogg is not played: this board plays no Opus/);
		const { length: lineCount } = log;
		timer.pass(1_800);
		equal(board.shown.at(-1), { message: "Saved." });
		equal(lines, ["notice: Done.", "notice: Saved."]);
		hear({ type: "notify", subtitles });
		equal(log.slice(lineCount), []);
		hear(tts("start"));
		timer.pass(10_000);
		equal(board.shown.at(-1), { state: "speaking" });
	},
	async "shows the texts of a notice by its sound where the board plays Opus, and at once if that fails"() {
		const side = talking();
		const files: { url: string; onStart(): void; reject(error: Error): void }[] = [];
		Object.assign(side.application.board, {
			playOpusFile: (url: string, onStart: () => void) =>
				new Promise((_, reject) => files.push({ url, onStart, reject })),
		});
		const notify = { type: "notify", audio_url: "http://h/a.ogg", subtitles: [{ start_ms: 0, text: "Done." }] };
		side.hear(notify);
		await settled();
		equal([files[0]?.url, side.lines], ["http://h/a.ogg", []]);
		files[0]?.onStart();
		equal(side.lines, ["notice: Done."]);
		side.hear(notify);
		await settled();
		side.hear(notify);
		await settled();
		files[1]?.onStart();
		equal(side.lines.length, 1);
		files[2]?.reject(new Error("not an Ogg file"));
		await settled();
		equal([side.lines.length, side.log.at(-1)], [2, "notify: not an Ogg file"]);
	},
	async "is woken by another device: it says the reason, or interrupts the assistant"() {
		const { hear, sent, application, wake } = waking();
		equal(await wake(), "true");
		equal(sent(), [detect("call from the kitchen")]);
		hear(tts("start"));
		equal(await wake(), "true");
		equal(sent(), [{ session_id: "s-1", type: "abort", reason: "wake_word_detected" }]);
		hear(tts("stop"));
		equal(application.state, "idle");
		application.enter("upgrading");
		equal(await wake(), "the device is upgrading");
		equal(sent(), []);
	},
	async "is woken by another device and listens, unless it has no microphone or a muted one"() {
		const codecs = [{}, { muted: true }, { record: undefined }];
		for (const [at, about] of codecs.entries()) {
			const { application, sent, wake } = waking(Object.assign(new FakeCodec(), about));
			equal(await wake(), "true");
			equal(application.state, at === 0 ? "listening" : "idle");
			equal(sent()[0], detect("call from the kitchen"));
		}
	},
	async "is not woken by another device if the backend has no assistant"() {
		const { application, hear, sent, wake } = waking(new FakeCodec());
		hear({ type: "hello", session_id: "s-1", features: { listen: false } });
		equal(await wake(), "this backend has no assistant: it only passes on calls of tools");
		equal([application.state, sent()], ["idle", []]);
	},
	async "does not listen after a wake-up whose session has no assistant"() {
		const board = Object.assign(boardWithChat(), { codec: new FakeCodec() });
		const { application, transport } = start(board, {}, "on-demand", talkative());
		application.board.assistant?.wake("call from the kitchen");
		transport.channel.events.onOpen();
		transport.channel.say({ type: "hello", transport: "fake", session_id: "s-1", features: { listen: false } });
		await settled();
		equal(application.state, "idle");
	},
});
