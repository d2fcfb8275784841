import { bundle, chooseEngine } from "/work/main/virtual-device/src/index.js";
const e = await (await chooseEngine("xs")).start({});
await e.run("globalThis.hostConfig={config:{},settings:{},macAddress:''}");
const [names] = await e.run(await bundle("/tmp/w/probe/micro.ts"));
for (const n of names!.header[1] as string[]) { const c=30000; await e.deliver([{header:["go",n,3000]}]); let best=1e9; for (let k=0;k<3;k++){const t=performance.now(); await e.deliver([{header:["go",n,c]}]); best=Math.min(best,(performance.now()-t)*1000/c);} console.log(n.padEnd(16), best.toFixed(2)); }
e.close();
