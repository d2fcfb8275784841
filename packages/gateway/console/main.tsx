import "./zod-without-eval.js";
import { render } from "preact";
import { App } from "./app.js";
import { connect } from "./store/fleet.js";
import "uplot/dist/uPlot.min.css";
import "./style.css";

render(<App />, document.getElementById("app") as HTMLElement);
void connect();
