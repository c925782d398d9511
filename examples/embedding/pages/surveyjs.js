/** A form of SurveyJS whose answers are randomized when it is complete. */

const root = document.getElementById("app");
const { module, src, digest } = root.dataset;
const { attach } = await import(module); // already loaded, and checked, by the script with its hash

const model = new Survey.Model(await (await fetch("surveyjs.json")).json());
if (await attach(model, { src, digest })) model.render(root);
else root.textContent = "This device has answered this survey.";
