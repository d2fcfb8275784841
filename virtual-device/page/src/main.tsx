import { render } from "preact";
import { Body } from "./body.js";
import { connect, device, failure, isConnected } from "./link.js";
import { Pins } from "./pins.js";
import { Faults, Senses, Surroundings } from "./surroundings.js";
import { Trace } from "./trace.js";
import "./style.css";

function App() {
	const { macAddress = "", board, engine = "", isRunning } = device.value ?? {};
	const state = !isConnected.value ? "the device's program has ended" : isRunning ? engine : "restarting";
	return (
		<>
			<header>
				<h1>Virtual device</h1>
				<p>
					{board?.name} <code>{macAddress}</code> {state}
				</p>
				<p role="status" class="failure">
					{failure.value}
				</p>
			</header>
			<main class={isConnected.value ? "" : "gone"}>
				<Body />
				<div class="cards">
					<Pins />
					<Surroundings />
					<Faults />
					<Senses />
				</div>
				<Trace />
			</main>
		</>
	);
}

render(<App />, document.getElementById("app") as HTMLElement);
connect();
