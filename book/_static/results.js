// The page of results: a link to a claim opens its line.
(() => {
  const open = () => {
    const line = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (line?.matches(".romae-results details")) {
      line.open = true;
      line.scrollIntoView({ block: "start" });
    }
  };
  addEventListener("hashchange", open);
  open();
})();
