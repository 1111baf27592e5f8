// Shows the API's description. Whoever is logged in tries operations as themselves, with the session's token.
const place = document.getElementById("description");

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: "list",
  tryItOutEnabled: true,
  requestInterceptor: (request) => {
    if (request.method !== "GET" && new URL(request.url, location.href).origin === location.origin) {
      request.headers["X-CSRFToken"] = place.dataset.token;
    }
    return request;
  },
});
