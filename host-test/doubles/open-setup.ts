import type { Application } from "../../src/core/application.js";
import { tryBackend } from "../../src/core/backend-trial.js";
import { readSetting, SettingError } from "../../src/core/read-setting.js";
import type { SettingName } from "../../src/core/settings-table.js";
import { listGateways } from "../../src/features/discovery/gateway-search.js";
import { PhoneSetup } from "../../src/features/setup/phone-setup.js";
import type { Face, Settings } from "../../src/hardware/hardware.js";
import type { Button } from "../../src/hardware/kinds/button.js";
import type { SetupNotice } from "../../src/hardware/wifi-setup.js";
import type { Transport } from "../../src/protocols/transport.js";
import { settled } from "../harness.js";
import type { Wire } from "./client.js";
import { FakeAccessPoint } from "./fake-access-point.js";
import { FakeBoard } from "./fake-board.js";
import type { FakeDnsSd } from "./fake-dns-sd.js";
import { type FakeHttpConnection, FakeHttpPlatform } from "./fake-http-server.js";
import { FakeTimer } from "./fake-timer.js";

interface Response {
	readonly status: number | undefined;
	readonly headers: ReadonlyMap<string, string>;
	readonly text: string;
}

interface SetupChoice {
	readonly built?: Readonly<Record<string, unknown>>;
	readonly screen?: boolean;
	readonly bootButton?: () => Button;
	readonly isSafe?: boolean;
	/** Lists gateways of this network. */
	readonly dnsSd?: FakeDnsSd;
	/** Leads to the backend. Default: each backend answers at once. */
	readonly transport?: Transport;
}

export function browserOf(platform: FakeHttpPlatform) {
	const ask = async (
		method: string,
		path: string,
		{ headers = {}, body = "" }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
	): Promise<Response> => {
		const connection: FakeHttpConnection = platform.connect();
		const length: Record<string, string> =
			body === "" ? {} : { "content-length": String(ArrayBuffer.fromString(body).byteLength) };
		connection.begin({ host: "192.0.2.7", ...length, ...headers }, method, path);
		if (body !== "") {
			connection.arrive(body);
		}
		connection.end();
		await settled();
		connection.grant();
		const { response, sent } = connection;
		return { status: response?.status, headers: response?.headers ?? new Map(), text: sent };
	};
	const submit = async (values: object): Promise<{ status: number | undefined; body: unknown }> => {
		const { formToken } = JSON.parse((await ask("GET", "/settings")).text);
		const headers = { "x-form-token": formToken, origin: "http://192.0.2.7" };
		const { status, text } = await ask("POST", "/settings", { headers, body: JSON.stringify(values) });
		return { status, body: JSON.parse(text) };
	};
	return { ask, submit };
}

export function makeSetup({ built = {}, screen = true, isSafe = false, ...choice }: SetupChoice = {}) {
	const { bootButton, dnsSd, transport } = choice;
	const timer = new FakeTimer();
	const platform = new FakeHttpPlatform();
	const accessPoint = new FakeAccessPoint();
	const { settings, screen: fakeScreen, resets, system } = new FakeBoard();
	const boot: Button = { onPress: undefined };
	const log: string[] = [];
	const shown: (SetupNotice | undefined)[] = [];
	const ends: boolean[] = [];
	const alerts: string[] = [];
	const counts = { needed: 0 };
	const source = { built: { backend: "ws://old/", ...built }, settings };
	const board = {
		accessPoint,
		settings,
		system,
		bootButton: bootButton ?? (() => boot),
		...(screen && { screen: fakeScreen }),
	};
	const backend = {
		check(values: Pick<Settings, "get">) {
			const backend = values.get("xs-mcp", "backend");
			if (typeof backend === "string" && !backend.startsWith("ws")) {
				throw new SettingError("backend", `expected ws://, got ${backend}`);
			}
		},
		tryOut: async () => transport && tryBackend(app, transport, () => transport),
		listGateways: dnsSd && (() => listGateways({ timer, log() {} }, dnsSd.openDnsSd)),
	};
	const app = {
		...{ board, built: source.built, source, timer, isSafe, backend },
		hostname: "xs-mcp-56789a",
		restart: () => void ends.push(true),
		setting: (name: SettingName) => readSetting(name, source),
		log: (line: string) => void log.push(line),
		network: {
			isUnset: false,
			hold: () => {
				counts.needed += 1;
			},
			resume: () => void ends.push(false),
		},
		show(change: Partial<Face>) {
			if ("setup" in change) {
				shown.push(change.setup);
			}
			if (change.alert !== undefined) {
				alerts.push(change.alert.message);
			}
		},
	} as unknown as Application;
	const setup = new PhoneSetup(app, platform);

	const { ask, submit } = browserOf(platform);
	const join = async (values: object): Promise<void> => {
		await submit(values);
		accessPoint.finish(true);
		await settled();
	};
	const status = async (): Promise<Wire> => {
		await settled();
		return JSON.parse((await ask("GET", "/status")).text);
	};
	return {
		setup,
		ask,
		submit,
		join,
		status,
		timer,
		platform,
		accessPoint,
		settings,
		log,
		shown,
		alerts,
		ends,
		counts,
		boot,
		resets,
	};
}

export function beginSetup(options?: SetupChoice) {
	const made = makeSetup(options);
	made.setup.begin();
	return made;
}
