/** SurveyJS's own model, and the survey that its JSON becomes. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import { answersOf, toSurvey } from "../../client/deniable_client/browser/surveyjs.js";

const { Model } = createRequire(import.meta.url)("survey-core");

export const FORM = {
  title: { default: "Canteen", bn: "ক্যান্টিন" },
  pages: [
    { elements: [
      { type: "html", html: "<b>Hello</b>" },
      { type: "boolean", name: "Eats here", isRequired: true },
      { type: "radiogroup", name: "dish", choices: ["soup", { value: 2, text: { default: "Stew", bn: "ঝোল" } }], visibleIf: "{Eats here} = true" },
      { type: "panel", elements: [{ type: "dropdown", name: "day", choices: ["Mon", "Tue", "Wed"], isRequired: true }] },
    ] },
    { elements: [
      { type: "rating", name: "taste", rateMax: 4, isRequired: true },
      { type: "checkbox", name: "likes", choices: ["salt", "spice", "sweet"], isRequired: true },
      { type: "text", name: "spent", inputType: "number", min: 0, max: 20, step: 0.5, visibleIf: "{likes} contains 'salt' or {likes} anyof ['sweet']" },
    ] },
  ],
};
const SETTINGS = { name: "canteen", privacy: { epsilon: 4 } };

test("the JSON of a form, before or after SurveyJS has read it, becomes the same survey", () => {
  const made = toSurvey(FORM, SETTINGS);
  assert.deepEqual(toSurvey(new Model(FORM).toJSON(), SETTINGS), made);
  assert.deepEqual(made.title, { en: "Canteen", bn: "ক্যান্টিন" });
  assert.deepEqual(made.questions.map(({ name, kind, optional }) => [name, kind, optional ?? false]), [
    ["eats_here", "yes-no", false], ["dish", "choice", true], ["day", "choice", false],
    ["taste", "scale", false], ["likes", "multiple", false], ["spent", "number", true],
  ]);
  assert.deepEqual(made.questions[1].show_if, { question: "eats_here", is: ["Yes"] });
  assert.deepEqual(made.questions[5].show_if, { question: "likes", is: ["salt", "sweet"] });
});

test("what SurveyJS holds is what is answered", () => {
  const model = new Model(FORM);
  model.data = { "Eats here": true, dish: 2, day: "Wed", taste: 3, likes: ["sweet", "salt"], spent: 4.5 };
  assert.deepEqual(answersOf(FORM, model.data), { eats_here: 0, dish: 1, day: 2, taste: 2, likes: [2, 0], spent: 4.5 });
  assert.deepEqual(answersOf(FORM, { "Eats here": false }), {
    eats_here: 1, dish: null, day: null, taste: null, likes: [], spent: null,
  });
});

test("what has no counterpart is refused, all at once and by name", () => {
  const elements = [
    { type: "comment", name: "why" },
    { type: "radiogroup", name: "a", choices: ["x", "y"], showOtherItem: true },
    { type: "text", name: "born", inputType: "number" },
    { type: "boolean", name: "b", visibleIf: "{nobody} = 1" },
    { type: "boolean", name: "c", visibleIf: "{a} notempty" },
    { type: "boolean", name: "d", visibleIf: "{a} = 'z'" },
    { type: "boolean", name: "A" },
  ];
  const away = { elements: [{ type: "boolean", name: "b" }], navigateToUrl: "/thanks?b={b}" };
  assert.throws(() => toSurvey(away, SETTINGS), ({ detail }) => detail.startsWith("navigateToUrl: "));
  assert.throws(() => toSurvey({ elements }, SETTINGS), ({ name, detail }) => {
    assert.equal(name, "DeniableError");
    const named = detail.split("; ").map((problem) => problem.split(":")[0]);
    assert.deepEqual(named, ["why", "a", "born", "b", "c", "d", "A"]);
    return true;
  });
});

test("a condition that is taken shows its question exactly where SurveyJS does", () => {
  const conditions = [
    "{likes} anyof ['a', 'b']", "{likes} contains 'a'", "{likes} contains ['c']", "{likes} contains 'a' or {likes} contains 'b'",
    "{one} = 'x'", "{one} == 'x'", "{one} anyof ['x', 'z']", "{one} = 'x' or {one} = 'z'", "{yes} = true", "{yes} == false",
  ];
  const others = [ // these SurveyJS reads otherwise than "any one of these"
    "{likes} contains ['a', 'b']", "{likes} = 'a'", "{likes} = ['a']", "{one} = ['x', 'z']", "{one} contains 'x'", "{one} = 'x' and {yes} = true",
  ];
  const asked = [
    { type: "checkbox", name: "likes", choices: ["a", "b", "c"] },
    { type: "radiogroup", name: "one", choices: ["x", "xy", "z"] },
    { type: "boolean", name: "yes" },
  ];
  const form = (visibleIf) => ({ elements: [...asked, { type: "boolean", name: "last", visibleIf }] });
  const likes = [[], ["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]].map((likes) => ({ likes }));
  const data = [{}, ...likes, { one: "x" }, { one: "xy" }, { one: "z" }, { yes: true }, { yes: false }];
  for (const condition of conditions) {
    const survey = toSurvey(form(condition), SETTINGS);
    const { question, is } = survey.questions[3].show_if;
    const labels = { likes: ["a", "b", "c"], one: ["x", "xy", "z"], yes: ["Yes", "No"] }[question];
    for (const each of data) {
      const model = new Model(form(condition));
      model.data = each;
      const chosen = [answersOf(form(condition), each)[question]].flat().map((place) => labels[place]);
      const shown = is.some((label) => chosen.includes(label));
      assert.equal(model.getQuestionByName("last").isVisible, shown, `${condition} at ${JSON.stringify(each)}`);
    }
  }
  for (const condition of others) assert.throws(() => toSurvey(form(condition), SETTINGS), { reason: "page" }, condition);
});
