import { createHash } from "node:crypto";
import type { Context } from "hono";
import { html, raw } from "hono/html";
import type { Server } from "xs-mcp-manager/core";
import { isLoopback } from "../config/listen-address.js";
import type { SignInRequest } from "./clients.js";
import texts from "./consent-texts.json" with { type: "json" };
import { MetadataDocuments } from "./metadata-document.js";
import { SIGN_IN_PATHS } from "./sign-in.js";

type Html = ReturnType<typeof html>;

/** The page's texts in one language. `{client}` is replaced by the client's name. */
type ConsentTexts = Readonly<Record<keyof typeof texts.en, string>>;

const TEXTS: Readonly<Record<string, ConsentTexts>> = texts;

/** Returns the texts in the first language of a browser's list that the page has. */
export function textsFor({ req }: Context): ConsentTexts {
	const wanted = (req.header("Accept-Language") ?? "").split(",").map((each) => each.trim().slice(0, 2).toLowerCase());
	return TEXTS[wanted.find((tag) => Object.hasOwn(TEXTS, tag)) ?? ""] ?? texts.en;
}

/** The console's colours: packages/gateway/console/style.css. */
const STYLE = `
:root{color-scheme:light dark;--page:light-dark(#f5f6f8,#0e1217);--card:light-dark(#fff,#161c24);--line:light-dark(#dfe3e8,#2a3440);--text:light-dark(#16202b,#e4eaf0);--muted:light-dark(#566372,#9aa8b6);--accent:light-dark(#0b7269,#2dc5b2);--on-accent:light-dark(#fff,#06201d);--warn-soft:light-dark(#fff3dd,#35270f);--bad:light-dark(#b42318,#ff8b7e);font:15px/1.5 system-ui,"Hiragino Sans","Noto Sans CJK JP","Noto Sans CJK SC","PingFang SC",sans-serif;background:var(--page);color:var(--text)}
*{box-sizing:border-box}
body{margin:0;display:grid;min-height:100vh;place-items:start center;padding:24px 16px}
main{width:100%;max-width:520px;display:grid;gap:16px;padding:24px;background:var(--card);border:1px solid var(--line);border-radius:12px;overflow-wrap:anywhere}
h1{display:flex;gap:10px;align-items:center;font-size:1.3rem;margin:0}
h2,legend{font-size:1rem;font-weight:650;margin:0;padding:0}
legend{margin-bottom:8px}
fieldset:has([value=all]:checked,[value=read]:checked) .indent{display:none}
p,fieldset{margin:0;padding:0;border:0}
form,fieldset{display:grid;gap:10px}
label{display:grid;gap:4px}
label.choice{grid-template-columns:auto 1fr;gap:8px;align-items:start}
input[type=password]{font:inherit;padding:8px 10px;border:1px solid var(--line);border-radius:8px;background:var(--page);color:inherit;width:100%}
input[type=radio],input[type=checkbox]{margin:4px 0 0;accent-color:var(--accent);width:16px;height:16px}
small{display:block;color:var(--muted);font-size:.85rem}
.indent{margin-left:24px}
.warn{background:var(--warn-soft);padding:10px 12px;border-radius:8px}
.problem{color:var(--bad)}
.buttons{display:flex;flex-direction:row-reverse;gap:10px}
button{font:inherit;padding:8px 18px;border:1px solid var(--line);border-radius:8px;background:transparent;color:inherit;cursor:pointer}
button.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
`;

/** In one piece: the policy names the hash of exactly this style. */
const STYLE_ELEMENT = raw(`<style>${STYLE}</style>`);

const LOGO = raw(
	'<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0f766e"/><circle cx="11" cy="15" r="3" fill="#fff"/><circle cx="21" cy="15" r="3" fill="#fff"/></svg>',
);

/** Policy of the page: no script, its own style, and a form that leads via the gateway to `redirectUri`, if any. */
export function consentPolicy(redirectUri: string | undefined): string {
	const style = createHash("sha256").update(STYLE).digest("base64");
	const { origin = "null", protocol = "" } = redirectUri === undefined ? {} : new URL(redirectUri);
	// Browsers check where the answer to a form redirects to, too.
	const action = redirectUri === undefined ? "'none'" : `'self' ${origin === "null" ? protocol : origin}`;
	return `default-src 'none'; style-src 'sha256-${style}'; form-action ${action}; base-uri 'none'; frame-ancestors 'none'`;
}

/** Makes the first page: who asks, and whether the person may answer. */
export function identifyPage(t: ConsentTexts, request: SignInRequest, sealed: string, problem?: string): Html {
	return formPage(
		t,
		request,
		sealed,
		html`<h2>${t.whoAreYou}</h2>
			<label>${t.secret}<input name="secret" type="password" autocomplete="off" autofocus aria-describedby="help" /></label>
			<small id="help">${t.secretHelp}</small>`,
		t.next,
		problem,
	);
}

/** Makes the second page, for an operator: what the client may do. Dangerous rights are never checked beforehand. */
export function choosePage(
	t: ConsentTexts,
	request: SignInRequest,
	sealed: string,
	devices: readonly Pick<Server, "id" | "alias">[],
	problem?: string,
): Html {
	const scopes = request.scope.split(" ");
	const readsOnly =
		scopes.includes("devices:read") && !scopes.some((each) => /control|user-tools|microphone/.test(each));
	const asked = new Set(
		scopes.filter((each) => each.startsWith("device:")).map((each) => each.slice("device:".length)),
	);
	const radio = (name: string, value: string, text: string, checked: boolean): Html =>
		html`<label class="choice"><input type="radio" name="${name}" value="${value}" ${checked ? "checked" : ""} />${text}</label>`;
	const box = (name: string, value: string, text: string, help: string, checked = false): Html =>
		html`<label class="choice indent">
			<input type="checkbox" name="${name}" value="${value}" ${checked ? "checked" : ""} />
			<span>${text}<small>${help}</small></span>
		</label>`;
	return formPage(
		t,
		request,
		sealed,
		html`<fieldset>
				<legend>${t.tools}</legend>
				${radio("tools", "read", t.read, readsOnly)} ${radio("tools", "control", t.control, !readsOnly)}
				${box("userTools", "on", t.userTools, t.userToolsHelp)} ${box("microphone", "on", t.microphone, t.microphoneHelp)}
			</fieldset>
			<fieldset>
				<legend>${t.devices}</legend>
				${radio("devices", "all", t.allDevices, asked.size === 0)}
				${radio("devices", "some", t.someDevices, asked.size > 0)}
				${devices.map(({ id, alias }) => box("device", id, alias, id, asked.has(id) || asked.has(alias)))}
			</fieldset>
			<small>${t.revokeLater}</small>`,
		t.allow,
		problem,
	);
}

/** Why a sign-in cannot go on, if the client cannot be told. */
export function failurePage(t: ConsentTexts, message: string): Html {
	return page(t, t.failed, html`<p role="alert">${message}</p>`);
}

/** Makes a page that says who asks, with a form. `sealed` comes back with the answer, and `go` is the text of its button. */
function formPage(
	t: ConsentTexts,
	{ client, redirectUri }: SignInRequest,
	sealed: string,
	content: Html,
	go: string,
	problem: string | undefined,
): Html {
	const { host, hostname, protocol } = new URL(redirectUri);
	const isWeb = /^https?:$/.test(protocol);
	const target = isWeb && isLoopback(hostname) ? `${t.ownMachine} (${host})` : isWeb ? host : `${t.app} ${protocol}`;
	const [before, after] = t.asks.split("{client}");
	// The first button is the one that Enter presses; the style shows it last.
	return page(
		t,
		t.title,
		html`<p>${before}<strong>${client.name}</strong>${after}</p>
			<p>
				${t.goesTo} <strong>${target}</strong>
				${MetadataDocuments.names(client.id) ? html`<small>${t.document} ${client.id}</small>` : ""}
			</p>
			<p class="warn">${t.unverified}</p>
			<form method="post" action="${SIGN_IN_PATHS.authorize}">
				<input type="hidden" name="request" value="${sealed}" />
				${content}
				${problem === undefined ? "" : html`<p class="problem" role="alert">${problem}</p>`}
				<div class="buttons">
					<button class="primary" name="answer" value="go">${go}</button>
					<button name="answer" value="deny">${t.deny}</button>
				</div>
			</form>`,
	);
}

function page({ language }: ConsentTexts, title: string, content: Html): Html {
	return html`<!doctype html>
		<html lang="${language}">
			<head>
				<meta charset="utf-8" />
				<meta name="viewport" content="width=device-width, initial-scale=1" />
				<title>${title} · xs-mcp</title>
				${STYLE_ELEMENT}
			</head>
			<body>
				<main>
					<h1>${LOGO} ${title}</h1>
					${content}
				</main>
			</body>
		</html>`;
}
