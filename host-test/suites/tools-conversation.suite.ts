import type { Application } from "../../src/core/application.js";
import type { SettingValue } from "../../src/core/settings-table.js";
import { ButtonQuestions } from "../../src/features/conversation/button-questions.js";
import conversation from "../../src/features/conversation/feature.js";
import { StoredReminders } from "../../src/features/conversation/stored-reminders.js";
import type { Face, Question } from "../../src/hardware/hardware.js";
import { MAX_REMINDERS } from "../../src/hardware/reminders.js";
import type { Wire } from "../doubles/client.js";
import { boardWithParts, FakeSettings } from "../doubles/fake-board.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { inSession, request, SMALL_BUILD } from "../doubles/started-application.js";
import { equal, given, matches, ok, settled, suite, throws } from "../harness.js";

/** 2026-11-22. */
const NOW = 1_795_305_600_000;

function callable(events: SettingValue<"events"> = []) {
	const board = boardWithParts();
	const timer = new FakeTimer();
	const now = (): number => NOW + timer.now;
	const features = [...SMALL_BUILD, conversation];
	const started = { ...inSession(board, {}, { features, built: { events: events.join() }, timer, now }), timer };
	const { transport, mcp } = started;
	let id = 0;
	const call = (name: string, args: object = {}, meta: object = {}): number => {
		id += 1;
		transport.channel.say(request(id, "tools/call", { name, arguments: args, ...meta }));
		return id;
	};
	const answer = async (): Promise<Wire> => {
		await settled();
		const { result, error } = mcp().find(({ payload }) => payload.id === id)?.payload ?? {};
		const text = result?.content[0].text;
		return text === undefined ? error : /^(\{|true$)/.test(text) ? JSON.parse(text) : text;
	};
	const message = (): unknown => (Object.assign({}, ...board.shown) as Face).message;
	transport.channel.say(request(0, "initialize", { protocolVersion: "2025-11-25" }));
	return { ...started, board, call, answer, message };
}

function asking(question: Partial<Question> = {}) {
	const timer = new FakeTimer();
	const shown: (string | undefined)[] = [];
	const show = ({ message }: Partial<Face>): void => void shown.push(message);
	const board = { ...boardWithParts(), buttons: { a: {}, b: {} } };
	const app = { board, show, words: undefined, timer, drawAttention() {} } as unknown as Application;
	const questions = new ButtonQuestions(app);
	const chosen: unknown[] = [];
	void questions
		.ask({ text: "Tea?", choices: ["Yes", "No"], time: 20_000, ...question })
		.then((choice) => chosen.push(choice));
	const press = (button: string, long = false): boolean => questions.onPress(button, { long, milliseconds: 100 });
	return { questions, timer, shown, chosen, press };
}

function reminding(settings = new FakeSettings(), clock = { start: NOW }) {
	const timer = new FakeTimer();
	const due: object[] = [];
	const log: string[] = [];
	const notify = (_method: string, reminder: object): void => void due.push(reminder);
	const now = (): number => clock.start + timer.now;
	const app = {
		board: { settings },
		timer,
		now,
		log: (line: string) => log.push(line),
		show() {},
		notify,
		drawAttention() {},
	};
	const reminders = new StoredReminders(app as unknown as Application);
	reminders.onStart();
	return { reminders, timer, due, settings, clock, log };
}

export default suite("tools of the conversation, of texts and timers", {
	async "show a text for a while, unless another takes its place"() {
		const { call, answer, message, timer, transport } = callable();
		call("self.screen.show_text", { text: "晚饭好了", seconds: 10 });
		equal([await answer(), message()], [true, "晚饭好了"]);
		timer.pass(9_999);
		equal(message(), "晚饭好了");
		timer.pass(1);
		equal(message(), "");
		call("self.screen.show_text", { text: "one", seconds: 10 });
		transport.channel.say({ type: "stt", text: "two" });
		timer.pass(60_000);
		equal(message(), "two");
		call("self.screen.show_text", { text: "three" });
		call("self.screen.show_text", { text: "four", seconds: 120 });
		timer.pass(60_000);
		equal(message(), "four");
	},
	async "show a text as an alert, which goes by itself and leaves the message"() {
		const { call, answer, message, timer, board } = callable();
		const alert = () => Object.assign({}, ...board.shown).alert;
		call("self.screen.show_text", { text: "dinner", seconds: 30 });
		call("self.screen.show_text", { text: "窗户开着，下雨了", alert: true });
		equal([await answer(), alert(), message()], [true, { status: "", message: "窗户开着，下雨了" }, "dinner"]);
		timer.pass(10_000);
		equal([alert(), message()], [{ status: "", message: "" }, "dinner"]);
		timer.pass(20_000);
		equal(message(), "");
	},
	"set an emotion of the family, and no other": given(callable, async ({ call, answer, board }) => {
		call("self.screen.set_emotion", { emotion: "kissy" });
		equal([await answer(), Object.assign({}, ...board.shown).emotion], [{ emotion: "kissy" }, "kissy"]);
		call("self.screen.set_emotion", { emotion: "hungry" });
		matches(JSON.stringify(await answer()), /emotion: expected one of/);
	}),
	async "ask a person, who chooses by the buttons, and report while nobody has"() {
		const { call, answer, message, board, timer, mcp, application } = callable();
		const question = { question: "Tea?", choices: ["Green", "Black"] };
		const id = call("self.assistant.ask_user", question, { _meta: { progressToken: 7 } });
		equal([message(), board.player.sounds.length], ["Tea?\n> 1/2 Green\nPress: next. Hold: this one.", 1]);
		board.buttons.boot.press();
		equal([message(), application.state], ["Tea?\n> 2/2 Black\nPress: next. Hold: this one.", "idle"]);
		timer.pass(5_000);
		const [progress] = mcp().filter(({ payload }) => payload.method === "notifications/progress");
		equal(progress.payload.params, {
			progressToken: 7,
			progress: 5,
			total: 20,
			message: "nobody has answered yet; marked: Black",
		});
		board.buttons.boot.press(true);
		equal([await answer(), message(), id], [{ answered: true, choice: "Black" }, "Black", 1]);
		board.buttons.boot.press();
		equal(application.state, "listening");
	},
	async "tell that nobody answered, and reject a second question"() {
		const { call, answer, timer, message } = callable();
		const question = { question: "Tea?", choices: ["Yes"], seconds: 30 };
		call("self.assistant.ask_user", question);
		call("self.assistant.ask_user", question);
		matches(await answer(), /another question is on the screen/);
		equal(message(), "Tea?\n> Yes");
		timer.pass(30_000);
		equal(message(), "");
		call("self.assistant.ask_user", { ...question, seconds: 5 });
		timer.pass(5_000);
		equal(await answer(), { answered: false });
	},
	async "take a question from the screen if its call is cancelled"() {
		const { call, transport, message, mcp, timer } = callable();
		const before = timer.size;
		const requestId = call("self.assistant.ask_user", { question: "Tea?", choices: ["Yes"] });
		mcp();
		transport.channel.say({
			type: "mcp",
			payload: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } },
		});
		await settled();
		equal([message(), mcp(), timer.size], ["", [], before]);
	},
	"take the marked choice by another button, and the only one by any press": given(asking, async (two) => {
		equal([two.press("a"), two.press("b")], [true, true]);
		await settled();
		equal([two.chosen, two.press("a")], [["No"], false]);
		const one = asking({ choices: ["OK"] });
		one.press("a");
		await settled();
		equal([one.chosen, one.shown], [["OK"], ["Tea?\n> OK", "OK"]]);
		const round = asking();
		round.press("a");
		round.press("a");
		equal(round.shown.at(-1), "Tea?\n> 1/2 Yes");
	}),
	"set timers, list them, and cancel one": given(callable, async ({ call, answer }) => {
		call("self.timer.set", { seconds: 600, text: "茶" });
		equal(await answer(), { id: 1, text: "茶", seconds: 600 });
		call("self.timer.set", { seconds: 60, text: "egg" });
		equal((await answer()).id, 2);
		call("self.timer.list");
		equal(await answer(), {
			timers: [
				{ id: 2, text: "egg", seconds: 60 },
				{ id: 1, text: "茶", seconds: 600 },
			],
		});
		call("self.timer.cancel", { id: 2 });
		equal(await answer(), true);
		call("self.timer.cancel", { id: 2 });
		matches(await answer(), /timer 2 not found/);
	}),
	async "tell of a timer that is due: chime, alert, notification, and the backend's model if it is chosen"() {
		const { call, board, timer, transport, mcp } = callable(["timer"]);
		call("self.timer.set", { seconds: 60, text: "egg" });
		mcp();
		timer.pass(60_000);
		const { alert } = Object.assign({}, ...board.shown);
		equal([alert, board.player.sounds.length], [{ status: "Timer", message: "egg" }, 1]);
		const sent = transport.channel.sent.map((text) => JSON.parse(text));
		equal(sent.find(({ type }) => type === "listen").text, 'The timer "egg" is due.');
		const [told] = mcp();
		equal([told.payload.method, told.payload.params], ["notifications/timer_due", { id: 1, text: "egg" }]);
	},
	async "ring five times, or until a press, which does nothing else"() {
		const { call, board, timer, transport } = callable(["timer"]);
		call("self.timer.set", { seconds: 60, text: "egg" });
		timer.pass(60_000);
		for (let count = 2; count <= 9; count += 1) {
			await settled();
			timer.pass(4_000);
		}
		equal(board.player.sounds.length, 5);
		call("self.timer.set", { seconds: 60, text: "tea" });
		await timer.passed(60_000);
		timer.pass(4_000);
		equal(board.player.sounds.length, 7);
		const listens = (): number => transport.channel.sent.filter((text) => text.includes('"listen"')).length;
		const before = listens();
		board.buttons.boot.press();
		await settled();
		timer.pass(60_000);
		equal([board.player.sounds.length, listens()], [7, before]);
	},
	"ring for each timer at its time, whenever the others were set": given(reminding, ({ reminders, timer, due }) => {
		reminders.set(60, "egg");
		timer.pass(300);
		reminders.set(5, "tea");
		timer.pass(4_999);
		equal(due, []);
		timer.pass(1);
		equal(due, [{ id: 2, text: "tea" }]);
	}),
	"keep timers over a restart, and ring for those that were due meanwhile": given(reminding, (first) => {
		first.reminders.set(60, "egg");
		first.reminders.set(3_600, "cake and tea");
		first.timer.pass(10_000);
		const second = reminding(first.settings, { start: NOW + 100_000 });
		second.timer.pass(1_000);
		equal(second.due, [{ id: 1, text: "egg" }]);
		equal(second.reminders.all, [{ id: 2, text: "cake and tea", seconds: 3_499 }]);
		second.timer.pass(3_499_000);
		equal([second.due.length, second.settings.values.size], [2, 0]);
	}),
	"keep timers while a chip does not know the time, and begin them when it does": given(reminding, ({ settings }) => {
		const before = reminding(settings);
		before.reminders.set(60, "egg");
		const { reminders, timer, due, clock } = reminding(settings, { start: 1_000 });
		timer.pass(30_000);
		equal(due, []);
		reminders.set(100, "bread");
		timer.pass(4_000);
		// The time comes from the network.
		clock.start = NOW;
		timer.pass(1_000);
		const left = reminders.all.map(({ text, seconds }) => [text, seconds]);
		equal(left, [
			["egg", 25],
			["bread", 95],
		]);
		timer.pass(95_000);
		equal(due, [
			{ id: 1, text: "egg" },
			{ id: 2, text: "bread" },
		]);
		equal(timer.size, 0);
	}),
	"drop a timer that was set while the time was unknown, when the device has restarted"() {
		const { settings } = reminding();
		reminding(settings, { start: 1_000 }).reminders.set(60, "egg");
		settings.set("timers", "3", "nonsense");
		const { reminders, log } = reminding(settings);
		equal([reminders.all, log.length, settings.values.size], [[], 2, 0]);
	},
	"set a limited number of timers": given(reminding, ({ reminders }) => {
		for (let id = 1; id <= MAX_REMINDERS; id += 1) {
			equal(reminders.set(60, "x").id, id);
		}
		throws(() => reminders.set(60, "x"), /timer limit reached \(8\): cancel one first/);
		reminders.cancel(4);
		equal(reminders.set(60, "y").id, 4);
		ok(reminders.all.length === MAX_REMINDERS);
	}),
});
