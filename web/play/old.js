// Read only by browsers that know no modules.
var message = document.createElement("p");
message.appendChild(
  document.createTextNode(
    "This browser is too old for this page: it needs WebAssembly and modules, as all browsers since 2023 have.",
  ),
);
document.documentElement.insertBefore(message, document.body);
