// node tools/record-readme.mjs: records the README's moving picture. Device, gateway and calls are real, the assistant's words
// are scripted. Needs Chromium, and ImageMagick with WebP.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { chromium } from "playwright-core";

const [PUMP, SOIL] = [/pump/, /soil|kind|from|^ {4}\}\)/];

/** Who does what, what is shown of it, for how many hundredths of a second, and which lines of the code it marks. */
const STORY = [
	["soil", "12", 1],
	["me", "Is my plant thirsty?", 130],
	["call", "self_sensor_read", 160, SOIL, { sensor: "soil" }],
	["it", "Yes. The soil is dry: 12 % moisture.", 200],
	["me", "Water it for 5 seconds.", 130],
	["call", "self_switch_set", 160, PUMP, { name: "pump", on: true, seconds: 5 }],
	["soil", "24", 70, PUMP],
	["soil", "37", 70, PUMP],
	["soil", "49", 70, PUMP],
	["soil", "53", 70, PUMP],
	["it", "Done. The pump ran for 5 seconds.", 200],
	["me", "Now run it for an hour.", 130],
	["call", "self_switch_set", 220, PUMP, { name: "pump", on: true, seconds: 3600 }],
	["it", "The device does not allow that: at most 30 seconds.", 400, PUMP],
];

const [, DEVICE] = readFileSync("README.md", "utf8").match(/```ts\n([\s\S]*?)```/);
const CODE = DEVICE.trimEnd()
	.replace(/analog\(\{ (.*?), from(.*?) \}\)/, "analog({\n      $1,\n      from$2,\n    })")
	.split("\n");

const STAGE = `<!doctype html><meta charset=utf8><style>*{box-sizing:border-box}
body{margin:0;width:900px;height:510px;display:grid;grid-template:auto 1fr/440px 1fr;gap:12px;padding:12px;background:#dfe5ec;
font:14px/1.4 system-ui,sans-serif;color:#1c2530} section{background:#fff;border-radius:10px;overflow:hidden}
h2{margin:0;padding:7px 14px;font-size:12px;color:#566273;border-bottom:1px solid #e7ebf0}
#code{background:#10151c;color:#d7dde5} #code h2{color:#9aa7b8;border-color:#222b36} pre{margin:0;padding:8px 0}
pre,.call{font:12.5px/1.5 'DejaVu Sans Mono',monospace} pre div{padding:0 14px;min-height:1.5em} pre .on{background:#234a35}
#chat{grid-row:1/3;grid-column:2} img{width:100%;display:block} #log{padding:10px;display:flex;flex-direction:column;gap:8px}
.me,.it{align-self:flex-end;background:#0d7268;color:#fff;border-radius:14px 14px 3px;padding:5px 12px}
.it{background:#eef1f4;color:inherit;border-radius:14px 14px 14px 3px;align-self:flex-start}
.call{font-size:11.5px;border-left:3px solid #0d7268;padding:3px 9px;background:#f1f5f7;overflow-wrap:anywhere;white-space:pre-wrap}
.bad{border-color:#c0392b}</style><section id=code><h2>device.ts</h2><pre></pre></section>
<section><h2>The device, on a virtual ESP32</h2><img></section><section id=chat><h2>Your MCP client</h2><div id=log></div></section>`;

const programs = [];
/** Starts a program. Resolves to what a pattern finds in its output. */
function start(pattern, ...args) {
	const program = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
	programs.push(program);
	let output = "";
	return new Promise((resolve) => {
		const read = (data) => {
			output += data;
			const found = pattern.exec(output);
			if (found !== null) {
				resolve(found[1]);
			}
		};
		program.stdout.on("data", read);
		program.stderr.on("data", read);
	});
}

/** Adds a message, and shows code and the device's picture, in the browser. */
const update = async ([message, code, picture]) => {
	document.querySelector("#log").innerHTML += message;
	document.querySelector("pre").innerHTML = code;
	document.querySelector("img").src = picture;
	await document.querySelector("img").decode();
};

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value).replaceAll(',"', ', "'));

const folder = mkdtempSync("examples/readme-");
const frames = [];
cpSync("examples/pump/manifest.json", join(folder, "manifest.json"));
writeFileSync(join(folder, "device.ts"), DEVICE);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
	const own = ["--http-port", "0", "--websocket-port", "0", "--no-announce", "--state-folder", join(folder, "state")];
	const listening = start(/^(\{.*"listening"\})$/m, "packages/gateway/xs-mcp-gateway.mjs", ...own);
	const { clients, websocket } = JSON.parse(await listening);
	const options = ["--manifest", join(folder, "manifest.json"), "--url", websocket, "--page", "0"];
	const url = await start(/^page (\S+)[\s\S]*session /m, "packages/virtual-device/device.mjs", ...options);
	const client = new Client({ name: "readme", version: "1.0.0" });
	await client.connect(new StreamableHTTPClientTransport(new URL(clients)));
	const device = await browser.newPage({ viewport: { width: 430, height: 700 }, deviceScaleFactor: 2 });
	await device.goto(url);
	const pins = device.getByRole("heading", { name: "Pins" }).locator("..");
	const stage = await browser.newPage({ viewport: { width: 900, height: 510 }, deviceScaleFactor: 1.5 });
	await stage.setContent(STAGE);
	for (const [who, text, hundredths, marked = /(?!)/, args = undefined] of STORY) {
		let message = "";
		if (who === "soil") {
			await pins.getByRole("slider").fill(text);
			await pins.getByRole("slider").blur();
		} else if (who === "call") {
			const { structuredContent, content, isError } = await client.callTool({ name: text, arguments: args });
			const [sent, result] = [args, isError ? content[0].text : structuredContent].map(asText);
			message = `<div class="call${isError ? " bad" : ""}">${text} ${sent}\n→ ${result}</div>`;
		} else {
			message = `<div class=${who}>${text}</div>`;
		}
		await device.waitForTimeout(1_200);
		const picture = `data:image/png;base64,${(await pins.screenshot()).toString("base64")}`;
		const code = CODE.map((each) => `<div${marked.test(each) ? " class=on" : ""}>${each}</div>`).join("");
		await stage.evaluate(update, [message, code, picture]);
		frames.push("-delay", `${hundredths}`, join(folder, `${frames.length}.png`));
		await stage.screenshot({ path: frames.at(-1) });
	}
	execFileSync("convert", ["-loop", "0", ...frames, "-quality", "80", "docs/images/readme.webp"]);
} finally {
	await browser.close();
	for (const program of programs) {
		program.kill("SIGKILL");
	}
	rmSync(folder, { recursive: true, maxRetries: 5 });
}
