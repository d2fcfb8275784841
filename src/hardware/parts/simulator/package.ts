/// <reference path="../../../types/simulator-pins.d.ts" />

// The module `xs-mcp` of a build for Moddable's simulator, whose panel sets the sensors of the SDK's drivers.
import { SENSORS } from "embedded:io/sensors";
import Modules from "modules";
import { type SensorDriver, sensor as sensorOf } from "src/hardware/parts/index";

export * from "src/hardware/parts/index";

type StandIn = new (name: string, options: object) => object;

/** Defines a sensor. In the simulator a stand-in takes the place of a driver of the SDK. */
export const sensor: typeof sensorOf = (Driver, options) =>
	sensorOf(typeof Driver === "function" ? simulated(Driver) : Driver, options);

const simulated = (Driver: SensorDriver): SensorDriver =>
	new Proxy(Driver, {
		construct(_, [options]: [never]) {
			const isDriver = (name: string): boolean =>
				Modules.has(`embedded:sensor/${name}`) && Modules.importNow(`embedded:sensor/${name}`) === Driver;
			const name = Object.keys(SENSORS).find(isDriver);
			return name === undefined
				? new Driver(options)
				: new (Modules.importNow("embedded:io/stand-in") as StandIn)(name, options);
		},
	});
