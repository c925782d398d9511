/** A React component around `<deniable-survey>`. JSX would write the same. */

const { createElement, StrictMode, useEffect, useRef, useState } = React;

function Survey({ src, digest, onSent }) {
  const element = useRef(null);
  useEffect(() => {
    const survey = element.current;
    survey.addEventListener("deniable-sent", onSent);
    return () => survey.removeEventListener("deniable-sent", onSent);
  }, [onSent]);
  return createElement("deniable-survey", { ref: element, src, digest });
}

function App({ src, digest }) {
  const [sent, setSent] = useState(false);
  return createElement(
    "main",
    null,
    createElement("p", { id: "thanks" }, sent ? "Thank you." : "Please take part."),
    createElement(Survey, { src, digest, onSent: () => setSent(true) }),
  );
}

const root = document.getElementById("app");
ReactDOM.createRoot(root).render(createElement(StrictMode, null, createElement(App, { ...root.dataset })));
