import "./zod-without-eval.js";
import { render } from "preact";
import { App } from "./app.js";
import { connect } from "./store/fleet.js";
import { language, loadTexts } from "./texts.js";
import "uplot/dist/uPlot.min.css";
import "./style.css";

void loadTexts(language.value).then(() => {
	render(<App />, document.getElementById("app") as HTMLElement);
	void connect();
});
