import { setupFeature } from "../../src/features/setup/phone-setup.js";
import type { Board } from "../../src/hardware/hardware.js";
import type { Button } from "../../src/hardware/kinds/button.js";
import { FakeAccessPoint } from "../doubles/fake-access-point.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeHttpPlatform } from "../doubles/fake-http-server.js";
import { browserOf } from "../doubles/open-setup.js";
import { listening, startOn } from "../doubles/started-application.js";
import { equal, given, matches, ok, settled, suite } from "../harness.js";

function start({ ssid = "home", online = true, fault = undefined as Error | undefined } = {}) {
	const states: string[] = [];
	const fake = new FakeBoard();
	Object.assign(fake.network, { ssid, online });
	const accessPoint = Object.assign(new FakeAccessPoint(), { fault });
	const platform = new FakeHttpPlatform();
	const boot: Button = { onPress: undefined };
	const parts = { accessPoint, bootButton: () => boot };
	const board: Board & Pick<FakeBoard, "system"> = Object.assign(fake, parts);
	const started = startOn({
		board,
		built: { ssid },
		features: [setupFeature(platform), listening({ onState: (state) => void states.push(state) })],
	});
	const { application } = started;
	const follow = (online: boolean): void => {
		fake.network.online = online;
		fake.network.onChange?.();
	};
	const begin = (): void => application.server.context.wifiSetup?.begin();
	return { ...started, application, fake, boot, accessPoint, platform, states, follow, begin, ...browserOf(platform) };
}

const startUnset = (fault?: Error) => start({ ssid: "", online: false, fault });

const TYPED = { ssid: "new", password: "", backend: "ws://h/", token: "", otaUrl: "", name: "" };

export default suite("the state wifi_configuring", {
	"is entered by a device that knows no network": given(startUnset, ({ application, accessPoint, fake }) => {
		equal([application.state, accessPoint.opened?.ssid], ["wifi_configuring", "xs-mcp-000001"]);
		equal(Object.assign({}, ...fake.shown).setup.url, "http://192.0.2.7/");
	}),
	"is entered by a tool, once the answer is sent"() {
		const { application, timer } = start({ ssid: "net", online: true });
		const answers: string[] = [];
		const session = application.server.open({ send: (text) => answers.push(String(text)) });
		const params = { name: "self.system.reconfigure_wifi", arguments: {} };
		session.receive({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
		matches(answers.join(), /"text":"true"/);
		ok(application.state !== "wifi_configuring", application.state);
		timer.pass(1_000);
		equal(application.state, "wifi_configuring");
	},
	async "ends with a restart if the backend has changed"() {
		const { accessPoint, fake, timer, submit, application, greet, sockets } = startUnset();
		equal((await submit({ ...TYPED, backend: "ws://other/" })).status, 202);
		accessPoint.finish(true);
		await settled();
		equal(sockets().at(-1)?.options.host, "other");
		greet();
		await settled();
		timer.pass(4_000);
		equal([fake.restarts, application.state, accessPoint.opened], [[1000], "wifi_configuring", undefined]);
		equal(fake.settings.get("xs-mcp", "backend"), "ws://other/");
	},
	async "ends with a connection if only the network has changed"() {
		const { accessPoint, fake, timer, submit, application, states, follow, greet } = startUnset();
		await submit(TYPED);
		fake.network.ssid = "new";
		follow(true);
		equal(application.state, "wifi_configuring", "the network is only tried");
		accessPoint.finish(true);
		await settled();
		greet();
		await settled();
		timer.pass(4_000);
		equal([fake.restarts, states], [[], ["starting", "wifi_configuring", "activating", "idle", "connecting"]]);
		equal(Object.assign({}, ...fake.shown).setup, undefined);
	},
	async "is entered again if a backend that could not be tried is not reached"() {
		const { accessPoint, timer, submit, application, fake, follow } = startUnset();
		await submit({ ...TYPED, action: "keep" });
		fake.network.ssid = "new";
		accessPoint.finish(true);
		await settled();
		timer.pass(4_000);
		follow(true);
		timer.pass(180_000);
		equal([application.state, accessPoint.opened !== undefined], ["wifi_configuring", true]);
	},
	"is entered at a part's request, and ends the session"() {
		const { application, begin, accessPoint, states, platform } = start();
		equal(application.state, "connecting");
		begin();
		begin();
		equal([application.state, platform.isOpen, accessPoint.opened !== undefined], ["wifi_configuring", true, true]);
		equal(states.slice(-3), ["connecting", "idle", "wifi_configuring"]);
	},
	"is left for another attempt if nobody uses the page"() {
		const { application, begin, follow, timer, accessPoint } = start();
		begin();
		follow(false);
		timer.pass(300_000);
		equal([application.state, accessPoint.opened], ["idle", undefined]);
		follow(true);
		equal(application.state, "connecting");
	},
	async "is left once a known network is back"() {
		const { application, timer, follow, accessPoint, fake } = start({ online: false });
		timer.pass(180_000 + 60_000);
		fake.network.online = true;
		accessPoint.finish(true);
		await settled();
		equal([application.state, accessPoint.opened], ["connecting", undefined]);
		follow(false);
		equal(application.state, "idle");
	},
	"is tried again after three minutes if the device's own network cannot be opened"() {
		const { application, accessPoint, timer } = startUnset(new Error("no radio"));
		equal([application.state, accessPoint.opened], ["wifi_configuring", undefined]);
		accessPoint.fault = undefined;
		timer.pass(180_000);
		equal([application.state, accessPoint.opened?.ssid], ["wifi_configuring", "xs-mcp-000001"]);
	},
	"is not entered while firmware is installed": given(start, ({ application, begin }) => {
		void application.server.context.installer?.install({ url: "http://h/f" });
		equal(application.state, "upgrading");
		begin();
		equal(application.state, "upgrading");
	}),
	"has settings checked by what the firmware does with them": given(startUnset, async ({ submit, accessPoint }) => {
		for (const [values, field, problem] of [
			[{ backend: "htp:/x" }, "backend", /^wrongBackend expected scheme:\/\/host/],
			[{ backend: "wss://h/" }, "backend", /^wrongBackend this device does not support wss:/],
			[{ backend: "" }, "backend", /^wrongBackend expected scheme/],
			[{ otaUrl: "ws://h/" }, "otaUrl", /^wrongOtaUrl $/],
			[{ name: "n".repeat(33) }, "name", /^wrongName $/],
		] as const) {
			const { status, body } = await submit({ ...TYPED, ...values });
			const { errors } = body as { errors: Record<string, { text: string; detail?: string }> };
			equal([status, Object.keys(errors)], [400, [field]]);
			matches(`${errors[field]?.text} ${errors[field]?.detail ?? ""}`, problem);
		}
		equal(accessPoint.attempts, []);
		equal((await submit({ ...TYPED, backend: "", otaUrl: "http://h/" })).status, 202);
	}),
});
