import { SettingError } from "../../src/core/read-setting.js";
import { parseUrl } from "../../src/protocols/transport.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

type Parts = readonly [scheme: string, host: string, port: number | undefined, path: string];

const GOOD: Readonly<Record<string, Parts>> = {
	"ws://h": ["ws", "h", undefined, "/"],
	"ws://h/": ["ws", "h", undefined, "/"],
	"ws://h?x": ["ws", "h", undefined, "/?x"],
	"ws://h:1/?a=b&c=%20": ["ws", "h", 1, "/?a=b&c=%20"],
	"wss://h.example:8443/a/b?c=d": ["wss", "h.example", 8443, "/a/b?c=d"],
	"wss://h/a:b@c//d": ["wss", "h", undefined, "/a:b@c//d"],
	"mqtt://127.0.0.1:1883": ["mqtt", "127.0.0.1", 1883, "/"],
	"mqtts://broker-1.example:65535": ["mqtts", "broker-1.example", 65_535, "/"],
	"ws://[::1]": ["ws", "::1", undefined, "/"],
	"ws://[::1]:80/": ["ws", "::1", 80, "/"],
	"ws://[fe80::A1:2]/x?y": ["ws", "fe80::A1:2", undefined, "/x?y"],
	"ws://[::ffff:10.0.0.1]:9000": ["ws", "::ffff:10.0.0.1", 9000, "/"],
};

const BAD = [
	"",
	"h",
	"h:80",
	"//h",
	"://h",
	"ws:h",
	"ws:/h",
	"ws://",
	"ws:///path",
	"ws://:80",
	"ws://h:",
	"ws://h:0",
	"ws://h:65536",
	"ws://h:100000",
	"ws://h:-1",
	"ws://h:8a",
	"ws://a b/",
	"ws://h/a b",
	"ws://h/\r\nX: y",
	"ws://h/#top",
	"ws://u:p@h/",
	"ws://::1/",
	"ws://[::1",
	"ws://::1]",
	"ws://[h]/",
	"ws://[::1]x/",
	" ws://h",
	"ws://h\n",
];

export default suite("backend's URL", {
	"is taken apart"() {
		for (const [url, [scheme, host, port, path]] of Object.entries(GOOD)) {
			equal(parseUrl(url), { scheme, host, port, path }, url);
		}
	},
	"is rejected if it is invalid, with the setting's name and the value"() {
		for (const url of BAD) {
			const error = throws(() => parseUrl(url), /^backend: expected scheme:\/\/host/);
			ok(error instanceof SettingError, url);
			matches(error.message.replace(JSON.stringify(url), "QUOTED"), /, got QUOTED$/);
		}
	},
});
