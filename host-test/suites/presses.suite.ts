import { boardWithParts } from "../doubles/fake-board.js";
import { inSession, start } from "../doubles/started-application.js";
import { equal, given, suite } from "../harness.js";

const pressed = (button: string, long = false): object => ({
	jsonrpc: "2.0",
	method: "notifications/button_pressed",
	params: { button, long, milliseconds: long ? 2_000 : 120 },
});

function pressable() {
	const board = boardWithParts();
	const { application, transport, timer, mcp } = inSession(board);
	mcp();
	const told = (): unknown[] => mcp().map(({ payload }) => payload);
	return { application, transport, timer, mcp, told, board, ...board.buttons };
}

export default suite("buttons and sensors of a board", {
	"tell the backend each press": given(pressable, ({ told, side }) => {
		side.press();
		side.press(true);
		equal(told(), [pressed("side"), pressed("side", true)]);
	}),
	"tell the backend nothing outside a session": given(boardWithParts, (board) => {
		const { transport } = start(board);
		transport.channel.events.onOpen();
		const { length } = transport.channel.sent;
		board.buttons.side.press();
		board.sensors.room.onChange?.(22);
		equal(transport.channel.sent.length, length);
	}),
	"make the device listen, and stop listening, by the main button": given(pressable, ({ application, told, boot }) => {
		boot.press();
		equal(application.state, "listening");
		boot.press();
		equal(application.state, "idle");
		const methods = told().map((message) => (message as { method: string }).method.slice("notifications/".length));
		equal(methods, ["button_pressed", "state_changed", "button_pressed", "state_changed"]);
	}),
	"ask the backend to stop speaking by the main button": given(pressable, ({ application, transport, boot }) => {
		transport.channel.say({ type: "tts", state: "start" });
		boot.press();
		equal(JSON.parse(String(transport.channel.sent.at(-1))), { session_id: "s-1", type: "abort" });
		equal(application.state, "speaking");
		transport.channel.say({ type: "tts", state: "stop" });
		equal(application.state, "idle");
	}),
	"change no state by another button, or by a long press where there is no set-up"() {
		const { application, boot, side } = pressable();
		side.press();
		boot.press(true);
		equal(application.state, "idle");
	},
	"begin the set-up by a long press of the main button, and show details by one of any"() {
		const board = boardWithParts();
		const { buttons } = board;
		const done: string[] = [];
		const { application } = inSession(Object.assign(board, { wifiSetup: { begin: () => void done.push("set-up") } }));
		application.listen({ onFaceChange: ({ details }) => void (details === true && done.push("details")) });
		buttons.side.press(true);
		equal(done, ["details"]);
		buttons.boot.press(true);
		buttons.boot.press();
		equal([done, application.state], [["details", "details", "set-up"], "listening"]);
	},
	"show details for ten seconds by a long press": given(pressable, ({ board, side, timer }) => {
		side.press(true);
		equal(board.shown.at(-1), { details: true });
		timer.pass(10_000);
		equal(board.shown.at(-1), { details: false });
	}),
	"make no device listen that has no network": given(boardWithParts, (board) => {
		const { application, transport } = inSession(board);
		board.network.online = false;
		board.network.onChange?.();
		board.buttons.boot.press();
		board.network.online = true;
		board.network.onChange?.();
		transport.channel.greet();
		equal(application.state, "idle");
	}),
});
