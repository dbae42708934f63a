package cataloghttp

import (
	"net/http"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

// uploadedImage is the response to an upload.
type uploadedImage struct {
	ID       string `json:"id"`
	ImageURL string `json:"imageUrl"`
}

// registerImages registers the upload route.
func registerImages(a *httpapi.API, images *catalog.Images) {
	route := httpapi.Route{
		Pattern: "POST /api/images", Policy: httpapi.Staff, Module: "MENUS", Name: "Upload a picture of a dish",
	}
	a.HandleImages(route, http.StatusCreated, func(r *http.Request, raw []byte) (any, error) {
		id, err := images.Add(r.Context(), raw)
		return uploadedImage{id, catalog.ImageURL(id)}, err
	})
}
