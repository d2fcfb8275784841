import { deepFreeze } from "../text/deep-freeze.js";
import { type AnswerPart, answerPart } from "./answer-part.js";
import { FIELDS } from "./setup-form.js";

const HEAD = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,">
<title>Set up the device</title>
<style>
:root{color-scheme:light dark;--back:#f2f4f8;--card:#fff;--text:#1a1d24;--soft:#5a6270;--line:#cdd3de;--accent:#0067b8;--on:#fff;--bad:#b3261e;--good:#1b6e3c}
@media(prefers-color-scheme:dark){:root{--back:#12141a;--card:#1d2029;--text:#eceef4;--soft:#a3abba;--line:#3b4150;--accent:#6cb8ff;--on:#0b1a29;--bad:#ff9d94;--good:#7fd8a0}}
*{box-sizing:border-box}
body{margin:0;padding:20px 16px 40px;background:var(--back);color:var(--text);font:16px/1.45 system-ui,-apple-system,Roboto,sans-serif}
main{max-width:440px;margin:0 auto}
h1{font-size:1.45em;margin:.2em 0}
h2{font-size:1.05em;margin:0 0 .6em}
p{margin:.3em 0 1em}
.soft,small{color:var(--soft)}
section{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:16px;margin:0 0 16px}
label{display:block;font-weight:600;margin-top:14px}
small{display:block;margin-top:5px}
input[type=text],input[type=url],input[type=password]{width:100%;margin-top:4px;padding:11px 12px;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:9px}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
label.check{display:flex;gap:8px;align-items:center;font-weight:400}
.error{color:var(--bad);font-weight:600;margin:4px 0 0}
.error:empty{display:none}
button{font:inherit;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
#send{width:100%;padding:13px;border:0;border-radius:11px;background:var(--accent);color:var(--on);font-weight:700}
#send:disabled{opacity:.55}
.link{padding:6px 0;border:0;background:none;color:var(--accent);text-decoration:underline}
ul{list-style:none;margin:0 0 6px;padding:0}
li button{display:flex;width:100%;align-items:center;gap:10px;padding:11px 10px;border:0;border-bottom:1px solid var(--line);background:none;color:inherit;text-align:left}
li button[aria-pressed=true]{font-weight:700;background:color-mix(in srgb,var(--accent) 14%,transparent);border-radius:9px}
.name{flex:1;overflow-wrap:anywhere}
.lock{position:relative;flex:none;width:11px;height:8px;margin-top:5px;border-radius:2px;background:currentColor}
.lock::before{content:"";position:absolute;left:2px;bottom:7px;width:3px;height:4px;border:2px solid;border-bottom:0;border-radius:4px 4px 0 0}
.lock.open{visibility:hidden}
.bars{display:flex;align-items:flex-end;gap:2px;height:14px}
.bars i{width:4px;background:var(--line)}
.bars i.on{background:var(--text)}
summary{font-weight:600;cursor:pointer;margin-top:14px}
#state{display:none}
#state.shown{display:block}
#state.bad{border-color:var(--bad)}
#state.good{border-color:var(--good)}
</style>
</head>
`;

const BODY = `<body>
<main>
<h1>Set up the device</h1>
<p class="soft">Choose the Wi-Fi that <b id="device">the device</b> is to use, and the server that it connects to.</p>
<noscript><p class="error">This page needs JavaScript. Open it in your browser.</p></noscript>
<section id="state" role="status" tabindex="-1"><h2></h2><p></p></section>
<form novalidate>
<section>
<h2>Wi-Fi</h2>
<ul id="networks" aria-label="Networks found"></ul>
<p id="search" class="soft" role="status"></p>
<button type="button" class="link" id="again">Search again</button>
<label for="ssid">Network name</label>
<input type="text" id="ssid" name="ssid" maxlength="32" autocapitalize="none" autocomplete="off" spellcheck="false" aria-describedby="ssid-error">
<p class="error" id="ssid-error"></p>
<label for="password">Password</label>
<input type="password" id="password" name="password" maxlength="64" autocapitalize="none" autocomplete="off" spellcheck="false" aria-describedby="password-error password-hint">
<p class="error" id="password-error"></p>
<small id="password-hint">Leave it empty for an open network.</small>
<label class="check"><input type="checkbox" id="show">Show the password</label>
</section>
<section>
<h2>Server</h2>
<label for="backend">Backend URL</label>
<input type="url" id="backend" name="backend" maxlength="256" placeholder="ws://192.168.1.10:8765/" autocapitalize="none" autocomplete="off" spellcheck="false" aria-describedby="backend-error backend-hint">
<p class="error" id="backend-error"></p>
<small id="backend-hint">ws://, wss://, mqtt:// or mqtts://</small>
<label for="token">Token</label>
<input type="password" id="token" name="token" maxlength="512" autocapitalize="none" autocomplete="off" spellcheck="false" aria-describedby="token-error token-hint">
<p class="error" id="token-error"></p>
<small id="token-hint">Only if the server asks for one.</small>
<details>
<summary>More settings</summary>
<label for="otaUrl">OTA URL</label>
<input type="url" id="otaUrl" name="otaUrl" maxlength="256" placeholder="https://…" autocapitalize="none" autocomplete="off" spellcheck="false" aria-describedby="otaUrl-error otaUrl-hint">
<p class="error" id="otaUrl-error"></p>
<small id="otaUrl-hint">If it is set, the device asks there for its backend.</small>
<label for="name">Device name</label>
<input type="text" id="name" name="name" maxlength="32" autocomplete="off" aria-describedby="name-error name-hint">
<p class="error" id="name-error"></p>
<small id="name-hint">The name that clients are told.</small>
</details>
</section>
<p class="error" id="form-error" role="alert"></p>
<button id="send" disabled>Save and connect</button>
</form>
</main>
`;

const SCRIPT = `<script>
"use strict";
const FIELDS=${JSON.stringify(FIELDS)};
const at=(id)=>document.getElementById(id);
const form=document.querySelector("form");
let formToken="",saved={},lost=0;
const say=(title,text,kind)=>{
const state=at("state");
state.className="shown "+kind;
state.children[0].textContent=title;
state.children[1].textContent=text;
};
const ask=async(path,options)=>{
const response=await fetch(path,{cache:"no-store",...options});
return {status:response.status,body:await response.json()};
};
const hints=()=>{
const same=at("ssid").value===saved.ssid&&saved.ssid!=="";
at("password-hint").textContent=same&&saved.hasPassword?"Leave it empty to keep the saved password.":"Leave it empty for an open network.";
const sameServer=at("backend").value===saved.backend&&at("otaUrl").value===saved.otaUrl;
at("token-hint").textContent=sameServer&&saved.hasToken?"Leave it empty to keep the saved token.":"Only if the server asks for one.";
for(const button of document.querySelectorAll("li button"))button.setAttribute("aria-pressed",button.dataset.ssid===at("ssid").value);
};
const showErrors=(errors)=>{
for(const field of FIELDS){
const error=errors[field]||"";
at(field+"-error").textContent=error;
at(field).setAttribute("aria-invalid",error!=="");
}
at("form-error").textContent=errors.form||"";
const first=FIELDS.find((field)=>errors[field]);
if(first){
const details=at(first).closest("details");
if(details)details.open=true;
at(first).focus();
}
};
const network=({ssid,rssi,secured})=>{
const item=document.createElement("li"),button=document.createElement("button");
const [lock,name,bars]=["span","span","span"].map((each)=>document.createElement(each));
const level=rssi>=-60?4:rssi>=-70?3:rssi>=-80?2:1;
button.type="button";
button.dataset.ssid=ssid;
button.setAttribute("aria-label",ssid+(secured?", needs a password":", open")+", signal "+level+" of 4");
lock.className=secured?"lock":"lock open";
name.className="name";
name.textContent=ssid;
bars.className="bars";
for(let bar=1;bar<=4;bar++){
const i=document.createElement("i");
i.style.height=2+bar*3+"px";
if(bar<=level)i.className="on";
bars.append(i);
}
button.append(lock,name,bars);
button.onclick=()=>{at("ssid").value=ssid;showErrors({});hints();(secured?at("password"):at("backend")).focus();};
item.append(button);
return item;
};
const search=async()=>{
at("again").disabled=true;
at("search").textContent="Searching for networks \\u2026";
try{
const {body}=await ask("/networks");
at("networks").replaceChildren(...body.networks.map(network));
at("search").textContent=body.networks.length?"":"No network was found.";
hints();
}catch{
at("search").textContent="The device did not answer. Is your phone still in its Wi-Fi?";
}
at("again").disabled=false;
};
const follow=async()=>{
let status;
try{
status=(await ask("/status")).body;
lost=0;
}catch{
lost+=1;
if(lost>=5)say("No connection with the device","Your phone may have left the device's Wi-Fi. If the device has joined the network, its own Wi-Fi is gone and you are done. Otherwise join its Wi-Fi again and reload this page.","");
}
if(status&&status.state==="joined"){
form.hidden=true;
return say("Done",status.message,"good");
}
if(status&&status.state!=="joining"){
at("send").disabled=false;
if(status.state==="failed"){
say("Not connected",status.message,"bad");
at("state").focus();
}
return;
}
if(status)say("Please wait",status.message,"");
if(lost<60)setTimeout(follow,1000);
};
form.onsubmit=async(event)=>{
event.preventDefault();
at("send").disabled=true;
const values=Object.fromEntries(FIELDS.map((field)=>[field,at(field).value]));
try{
const {status,body}=await ask("/settings",{method:"POST",headers:{"content-type":"application/json","x-form-token":formToken},body:JSON.stringify(values)});
showErrors(status===202?{}:body.errors||{form:body.error});
if(status===202){
say("Please wait",body.message,"");
at("state").focus();
lost=0;
return follow();
}
}catch{
showErrors({form:"The device did not answer. Is your phone still in its Wi-Fi?"});
}
at("send").disabled=false;
};
at("show").onchange=()=>{at("password").type=at("show").checked?"text":"password";};
at("again").onclick=search;
form.oninput=hints;
(async()=>{
try{
saved=(await ask("/settings")).body;
formToken=saved.formToken;
at("device").textContent=saved.device;
for(const field of ["ssid","backend","otaUrl","name"])at(field).value=saved[field];
at("send").disabled=false;
await search();
}catch{
showErrors({form:"The device did not answer. Reload the page."});
}
})();
</script>
</body>
</html>
`;

/**
 * The set-up page, in parts that are sent one after another. It brings everything with it: a phone in the device's Wi-Fi
 * reaches nothing else. It holds no settings; the script asks the device for them.
 */
export const SETUP_PAGE: readonly AnswerPart[] = deepFreeze([HEAD, BODY, SCRIPT].map(answerPart));
