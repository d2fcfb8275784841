import { render } from "preact";
import { Body } from "./body.js";
import { connect, device, failure, isConnected } from "./link.js";
import { Chips, Pins } from "./pins.js";
import { Faults, Senses, Surroundings } from "./surroundings.js";
import { Trace } from "./trace.js";
import "./style.css";

function App() {
	const { name = "", macAddress = "", board, engine = "", isRunning, consoleUrl } = device.value ?? {};
	const state = !isConnected.value ? "the device's program has ended" : isRunning ? engine : "restarting";
	const title = name || "Virtual device";
	document.title = title;
	return (
		<>
			<header>
				<h1>{title}</h1>
				<p>
					{board?.name} <code>{macAddress}</code> {state}
				</p>
				{consoleUrl !== undefined && <a href={consoleUrl}>Gateway's console</a>}
				<p role="status" class="failure">
					{failure.value}
				</p>
			</header>
			<main class={isConnected.value ? "" : "gone"}>
				<Body />
				<div class="cards">
					<Pins />
					<Chips />
					{device.value && (
						<>
							<Surroundings shown={device.value} />
							<Faults shown={device.value} />
							<Senses shown={device.value} />
						</>
					)}
				</div>
				<Trace />
			</main>
		</>
	);
}

render(<App />, document.getElementById("app") as HTMLElement);
connect();
