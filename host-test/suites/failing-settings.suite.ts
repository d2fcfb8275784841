import { preferFlashed } from "../../src/core/known-networks.js";
import { StoredSettings } from "../../src/core/stored-settings.js";
import { modsFeature } from "../../src/features/mods.js";
import { setupFeature } from "../../src/features/setup/phone-setup.js";
import { FailingStore } from "../doubles/failing-store.js";
import { FakeAccessPoint } from "../doubles/fake-access-point.js";
import { FakeBoard, FakeUpdater } from "../doubles/fake-board.js";
import { FakeHttpPlatform } from "../doubles/fake-http-server.js";
import { startOn } from "../doubles/started-application.js";
import { equal, given, matches, ok, settled, suite } from "../harness.js";

const MINUTE = 60_000;

function startBroken() {
	const store = new FailingStore();
	store.isBroken = true;
	const log: string[] = [];
	const board = Object.assign(new FakeBoard(), {
		settings: new StoredSettings(store, (line) => log.push(line)),
		accessPoint: new FakeAccessPoint(),
		updater: new FakeUpdater(),
	});
	const started = startOn({
		board,
		features: [modsFeature(() => () => []), setupFeature(new FakeHttpPlatform())],
		log: (line) => log.push(line),
	});
	const socket = started.greet();
	let id = 0;
	const call = async (name: string, args: object): Promise<string> => {
		id += 1;
		socket.grant(100_000);
		const payload = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
		socket.arrive([JSON.stringify({ type: "mcp", payload })]);
		await settled();
		return socket.messages.filter((text) => text.includes(`"id":${id},`)).at(-1) ?? "";
	};
	return { ...started, store, board, log, call };
}

function keep(store = new FailingStore()) {
	const log: string[] = [];
	return { store, log, settings: new StoredSettings(store, (line) => log.push(line)) };
}

export default suite("settings that cannot be stored", {
	"the device starts, joins its network and talks to its backend"() {
		const { application, board, timer, log } = startBroken();
		equal(application.state, "idle");
		for (const online of [false, true]) {
			board.network.online = online;
			board.network.onChange?.();
			timer.pass(10 * MINUTE);
		}
		ok(application.state !== "fatal_error");
		ok(log.some((line) => /could not be (read|stored): Error: nvs/.test(line)));
	},
	"a newly flashed network does not keep the device from starting": given(keep, ({ settings, store, log }) => {
		store.isBroken = true;
		const networks = JSON.stringify([["office", "long enough"]]);
		preferFlashed({ built: { ssid: "home", networks }, settings }, (line) => log.push(line));
		ok(log.some((line) => line.startsWith("settings: xs-mcp/networks could not be stored")));
	}),
	"a caller learns that a value was not stored": given(startBroken, async ({ call }) => {
		matches(await call("self.assets.set_download_url", { url: "http://h/" }), /"error".*url: could not be stored/);
		matches(await call("self.timer.set", { seconds: 60, text: "tea" }), /"error".*timer could not be stored/);
	}),
	"volume, brightness and theme are set although they are not stored": given(startBroken, async ({ call, board }) => {
		matches(await call("self.audio_speaker.set_volume", { volume: 10 }), /"isError":false/);
		matches(await call("self.screen.set_brightness", { brightness: 20 }), /"isError":false/);
		matches(await call("self.screen.set_theme", { theme: "dark" }), /"isError":false/);
		equal([board.speaker.volume, board.screen.brightness, board.screen.theme], [10, 20, "dark"]);
	}),
	"a value that has not changed is not written again": given(keep, ({ settings, store }) => {
		settings.set("wifi", "joined", "home");
		const { length } = store.steps;
		equal([settings.set("wifi", "joined", "home"), store.steps.length], [true, length]);
	}),
	"a value that is not there is not deleted": given(keep, ({ settings, store }) => {
		settings.delete("wifi", "unreached");
		equal(store.steps, []);
	}),
	"a power cut at any step leaves the old value or the new one"() {
		for (let powerFor = 0; powerFor < 6; powerFor += 1) {
			const store = new FailingStore();
			keep(store).settings.set("xs-mcp", "ssid", "old");
			store.powerFor = powerFor;
			keep(store).settings.set("xs-mcp", "ssid", "new");
			store.powerFor = Number.POSITIVE_INFINITY;
			const { settings } = keep(store);
			matches(String(settings.get("xs-mcp", "ssid")), /^(old|new)$/);
			settings.set("xs-mcp", "ssid", "last");
			equal(keep(store).settings.get("xs-mcp", "ssid"), "last");
		}
	},
	"a deleted value does not come back, whenever the power is cut"() {
		for (let powerFor = 0; powerFor < 6; powerFor += 1) {
			const store = new FailingStore();
			store.powerFor = powerFor;
			keep(store).settings.set("board", "uuid", "new");
			store.powerFor = Number.POSITIVE_INFINITY;
			keep(store).settings.delete("board", "uuid");
			equal([...store.values], []);
		}
	},
	"a text that would fill the flash is refused, and the old one stays": given(keep, ({ settings, store, log }) => {
		settings.set("assets", "download_url", "http://h/");
		equal(settings.set("assets", "download_url", "é".repeat(1_001)), false);
		equal([...store.values.values()], ["http://h/"]);
		matches(log.at(-1) ?? "", /assets\/download_url could not be stored: RangeError: longer than 2000 bytes/);
		equal(settings.set("assets", "download_url", "é".repeat(1_000)), true);
	}),
	"a store that cannot be read is logged once, until it works again": given(keep, ({ settings, store, log }) => {
		store.isBroken = true;
		equal(
			[settings.get("board", "uuid"), settings.get("audio", "output_volume"), log.length],
			[undefined, undefined, 1],
		);
		store.isBroken = false;
		settings.get("board", "uuid");
		store.isBroken = true;
		settings.get("board", "uuid");
		equal(log.length, 2);
	}),
});
