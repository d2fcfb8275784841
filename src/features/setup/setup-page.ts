import { deepFreeze } from "../../core/text/deep-freeze.js";
import { FIELDS } from "./setup-form.js";

const HEAD = ArrayBuffer.fromString(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,">
<title></title>
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
input:not([type=checkbox]){width:100%;margin-top:4px;padding:11px 12px;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:9px}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
label.check{display:flex;gap:8px;align-items:center;font-weight:400}
.error{color:var(--bad);font-weight:600;margin:4px 0 0}
.error:empty{display:none}
button{font:inherit;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
#send,#find{width:100%;padding:13px;border:0;border-radius:11px;background:var(--accent);color:var(--on);font-weight:700}
#find{margin-bottom:6px;border:2px solid var(--accent);background:none;color:var(--accent)}
button:disabled{opacity:.55}
[hidden]{display:none!important}
#tongue{float:right;margin:0}
select{padding:7px;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:9px}
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
`);

/** A label, an input, its error and its hint. The script fills in the texts. */
const field = (name: string, attributes: string): string => {
	const describedBy = `aria-describedby="${name}-error ${name}-hint"`;
	return `<label for="${name}" data-text="${name}"></label>
<input id="${name}" name="${name}" ${attributes} autocomplete="off" spellcheck="false" ${describedBy}>
<p class="error" id="${name}-error"></p>
<small id="${name}-hint"></small>`;
};

const BODY = ArrayBuffer.fromString(`<body>
<main>
<p id="tongue"><select id="language" aria-label="Language"><option value="en" lang="en">English</option><option value="ja" lang="ja">日本語</option><option value="zh" lang="zh">中文</option></select></p>
<h1 data-text="title"></h1>
<p class="soft" id="intro"></p>
<noscript><p class="error">This page needs JavaScript. Open it in your browser.</p></noscript>
<section id="state" role="status" tabindex="-1"><h2></h2><p></p><small></small><button type="button" class="link" id="keep" data-text="keep"></button></section>
<form novalidate>
<section>
<h2 data-text="wifi"></h2>
<ul id="networks" data-label="networks"></ul>
<p id="search" class="soft" role="status"></p>
<button type="button" class="link" id="again" data-text="searchAgain"></button>
${field("ssid", `type="text" maxlength="32" autocapitalize="none"`)}
${field("password", `type="password" maxlength="64" autocapitalize="none"`)}
<label class="check"><input type="checkbox" id="show"><span data-text="showPassword"></span></label>
</section>
<section>
<h2 data-text="server"></h2>
<button type="button" id="find" data-text="find"></button>
<ul id="gateways" data-label="gateways"></ul>
${field("backend", `type="text" inputmode="url" maxlength="256" placeholder="ws://192.168.1.10:8765/" autocapitalize="none"`)}
${field("token", `type="password" maxlength="512" autocapitalize="none"`)}
<details>
<summary data-text="more"></summary>
${field("otaUrl", `type="url" maxlength="256" placeholder="https://…" autocapitalize="none"`)}
${field("name", `type="text" maxlength="32"`)}
</details>
</section>
<p class="error" id="form-error" role="alert"></p>
<button id="send" data-text="send" disabled></button>
</form>
</main>
`);

/**
 * Function of the page: the phone's time zone in the form of POSIX (IEEE Std 1003.1 §8.3), "<+01>-1<+02>-2,M3.5.0/2,M10.5.0/3".
 * It looks for the changes of the next eight years, and a weekday of a month that fits all of them. Otherwise it is today's offset.
 */
const ZONE = `const zone=()=>{
const day=864e5,two=(number)=>String(number).padStart(2,"0"),offset=(time)=>-new Date(time).getTimezoneOffset(),changes=[[],[]],offsets=[];
const clock=(minutes)=>{
const size=Math.abs(minutes),rest=size%60;
return (minutes<0?"-":"")+(size-rest)/60+(rest?":"+two(rest):"");
};
const name=(minutes)=>"<"+(minutes<0?"-":"+")+two(Math.floor(Math.abs(minutes)/60))+(minutes%60?two(Math.abs(minutes%60)):"")+">"+clock(-minutes);
const start=Math.floor(Date.now()/day)*day,end=start+2922*day;
for(let time=start;time<end;time+=day){
const before=offset(time);
if(before!==offset(time+day)){
let from=time,to=time+day;
while(to-from>6e4){
const middle=from+Math.floor((to-from)/12e4)*6e4;
if(offset(middle)===before)from=middle;else to=middle;
}
changes[offset(to)>before?0:1].push(to+before*6e4);
offsets.push(before);
}
}
const rule=(times)=>{
for(const shift of [0,-1,1]){
const days=times.map((time)=>new Date(time+shift*day));
const same=(of)=>days.every((each)=>of(each)===of(days[0]));
const week=(each)=>Math.ceil(each.getUTCDate()/7),isLast=(each)=>new Date(+each+7*day).getUTCMonth()!==each.getUTCMonth();
const minutes=(each)=>each.getUTCHours()*60+each.getUTCMinutes();
if(days.length>6&&same((each)=>each.getUTCDay())&&same((each)=>each.getUTCMonth())&&same(minutes)&&(same(week)||days.every(isLast)))
return "M"+(days[0].getUTCMonth()+1)+"."+(same(week)?week(days[0]):5)+"."+days[0].getUTCDay()+"/"+clock(minutes(days[0])-shift*1440);
}
};
const [summer,winter]=changes.map(rule);
return summer&&winter?name(Math.min(...offsets))+name(Math.max(...offsets))+","+summer+","+winter:name(offset(Date.now()));
};
`;

const SCRIPT = ArrayBuffer.fromString(`<script>
"use strict";
const FIELDS=${JSON.stringify(FIELDS.filter((field) => field !== "language" && field !== "timezone"))};
const LANGUAGES=["en","ja","zh"];
const at=(id)=>document.getElementById(id);
const form=document.querySelector("form");
let texts={},formToken="",saved={},lost=0,networks=[],searchText="",said,errors={};
const t=(key,name)=>(texts[key]||"").replace("{name}",()=>name||"");
const say=(title,message,kind)=>{
said=[title,message,kind];
const state=at("state");
state.className="shown "+kind;
state.children[0].textContent=t(title);
state.children[1].textContent=t(message.text,message.name);
state.children[2].textContent=message.detail||"";
at("keep").hidden=!message.canKeep;
};
${ZONE}const ask=async(path,options)=>{
const response=await fetch(path,{cache:"no-store",...options});
return {status:response.status,body:await response.json()};
};
const hints=()=>{
const same=at("ssid").value===saved.ssid&&saved.ssid!=="";
at("password-hint").textContent=t(same&&saved.hasPassword?"passwordSaved":"passwordHint");
const sameServer=at("backend").value===saved.backend&&at("otaUrl").value===saved.otaUrl;
at("token-hint").textContent=t(sameServer&&saved.hasToken?"tokenSaved":"tokenHint");
for(const field of ["backend","otaUrl","name"])at(field+"-hint").textContent=t(field+"Hint");
for(const button of document.querySelectorAll("li button"))button.setAttribute("aria-pressed",button.dataset.value===at(button.dataset.field).value);
};
const showErrors=(wrong,focus)=>{
errors=wrong;
for(const field of [...FIELDS,"form"]){
const {text,detail}=errors[field]||{};
at(field+"-error").textContent=text?t(text)+(detail?" ("+detail+")":""):"";
if(field!=="form")at(field).setAttribute("aria-invalid",text!==undefined);
}
const first=FIELDS.find((field)=>errors[field]);
if(first&&focus){
const details=at(first).closest("details");
if(details)details.open=true;
at(first).focus();
}
};
const choice=(field,value,label,parts,next)=>{
const item=document.createElement("li"),button=document.createElement("button");
button.type="button";
button.dataset.field=field;
button.dataset.value=value;
button.setAttribute("aria-label",label);
button.append(...parts);
button.onclick=()=>{at(field).value=value;showErrors({});hints();next.focus();};
item.append(button);
return item;
};
const span=(name,text)=>{
const element=document.createElement("span");
element.className=name;
element.textContent=text||"";
return element;
};
const network=({ssid,rssi,secured})=>{
const bars=span("bars"),level=rssi>=-60?4:rssi>=-70?3:rssi>=-80?2:1;
for(let bar=1;bar<=4;bar++){
const i=document.createElement("i");
i.style.height=2+bar*3+"px";
if(bar<=level)i.className="on";
bars.append(i);
}
const label=t(secured?"secured":"open",ssid)+", "+t("signal",String(level));
return choice("ssid",ssid,label,[span(secured?"lock":"lock open"),span("name",ssid),bars],secured?at("password"):at("backend"));
};
const gateway=({name,backend})=>choice("backend",backend,name,[span("name",name)],at("token"));
const draw=()=>{
for(const element of document.querySelectorAll("[data-text]"))element.textContent=t(element.dataset.text);
for(const element of document.querySelectorAll("[data-label]"))element.setAttribute("aria-label",t(element.dataset.label));
document.title=t("title");
at("intro").textContent=t("intro",saved.device)+(saved.isSafe?" "+t("safeMode"):"");
at("networks").replaceChildren(...networks.map(network));
at("search").textContent=t(searchText);
if(said)say(...said);
showErrors(errors);
hints();
};
const speak=async(language)=>{
texts=(await ask("/texts/"+language)).body;
document.documentElement.lang=at("language").value=language;
at("language").setAttribute("aria-label",t("language"));
draw();
};
const search=async()=>{
at("again").disabled=true;
searchText="searching";
draw();
try{
networks=(await ask("/networks")).body.networks;
searchText=networks.length?"":"noNetwork";
}catch{
searchText="noAnswer";
}
draw();
at("again").disabled=false;
};
const busy=(is)=>{at("send").disabled=at("find").disabled=is;};
const follow=async()=>{
let status;
try{
status=(await ask("/status")).body;
lost=0;
}catch{
lost+=1;
if(lost>=5)say("lost",{text:"lostHelp"},"");
}
if(status&&status.state==="joined"){
form.hidden=true;
return say("done",status,"good");
}
if(status&&status.state!=="joining"){
busy(false);
at("gateways").replaceChildren(...(status.gateways||[]).map(gateway));
hints();
if(status.state==="found"){
say("found",status,"good");
if(status.gateways.length===1)at("gateways").querySelector("button").click();
else at("gateways").querySelector("button").focus();
}
if(status.state==="failed"){
say("failed",status,"bad");
at("state").focus();
}
return;
}
if(status)say("wait",status,"");
if(lost<60)setTimeout(follow,1000);
};
const send=async(action)=>{
busy(true);
const values=Object.fromEntries(FIELDS.map((field)=>[field,at(field).value]));
try{
const {status,body}=await ask("/settings",{method:"POST",headers:{"content-type":"application/json","x-form-token":formToken},body:JSON.stringify({...values,language:at("language").value,timezone:zone(),action})});
showErrors(status===202?{}:body.errors,true);
if(status===202){
say("wait",body,"");
at("state").focus();
lost=0;
return follow();
}
}catch{
showErrors({form:{text:"noAnswer"}});
}
busy(false);
};
form.onsubmit=(event)=>{event.preventDefault();send();};
at("find").onclick=()=>send("find");
at("keep").onclick=()=>send("keep");
at("show").onchange=()=>{at("password").type=at("show").checked?"text":"password";};
at("again").onclick=search;
at("language").onchange=()=>speak(at("language").value).catch(()=>showErrors({form:{text:"noAnswer"}}));
form.oninput=hints;
(async()=>{
try{
const spoken=(navigator.languages||[navigator.language]).map((each)=>each.slice(0,2).toLowerCase());
await speak(spoken.find((each)=>LANGUAGES.includes(each))||"en");
saved=(await ask("/settings")).body;
formToken=saved.formToken;
at("find").hidden=!saved.findsGateways;
for(const field of ["ssid","backend","otaUrl","name"])at(field).value=saved[field];
at("send").disabled=false;
await search();
}catch{
at("form-error").textContent=t("noAnswer")||"The device did not answer. Reload this page.";
}
})();
</script>
</body>
</html>
`);

/** The self-contained set-up page, in UTF-8 so that XS keeps it in flash. It holds no settings: its script asks the device. */
export const SETUP_PAGE: readonly ArrayBuffer[] = deepFreeze([HEAD, BODY, SCRIPT]);
