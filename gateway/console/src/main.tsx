import "./zod-without-eval.js";
import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app.js";
import { closeStream, isConnected, openStream } from "./store/fleet.js";
import { checkSession, phase } from "./store/session.js";
import "uplot/dist/uPlot.min.css";
import "./style.css";

/** Milliseconds between attempts to reach a gateway that does not answer when the page opens. */
const RETRY_DELAY = 1_000;

async function open(): Promise<void> {
	try {
		await checkSession();
		isConnected.value = true;
	} catch {
		isConnected.value = false;
		setTimeout(() => void open(), RETRY_DELAY);
	}
}

effect(() => {
	if (phase.value === "open") {
		openStream();
	} else {
		closeStream();
	}
});

render(<App />, document.getElementById("app") as HTMLElement);
void open();
