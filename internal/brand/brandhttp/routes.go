// Package brandhttp serves the restaurant's brand to its owner and administrators.
package brandhttp

import (
	"context"
	"net/http"

	"comanda/internal/authz"
	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

type routes struct{ service *brand.Service }

// Register adds the routes. By default only administrators and owners have their permissions.
func Register(a *httpapi.API, service *brand.Service) {
	r := routes{service}
	ops := a.Operations("Settings", httpapi.Admin)
	// The brand applies to every branch.
	httpapi.Register(ops, "brand", "GET /api/brand", "View the brand", authz.Everywhere(r.get))
	httpapi.Register(ops, "brand-change", "PATCH /api/brand",
		"Edit the name, colour and texts of the brand", authz.Everywhere(r.change))
	httpapi.Register(ops, "brand-palette", "GET /api/brand/palette", "Derive the shades of a colour", r.palette)
	httpapi.Register(ops, "brand-picture-remove", "DELETE /api/brand/{picture}",
		"Remove the logo or the cover picture", authz.Everywhere(r.remove))
	a.HandleImages(httpapi.Route{
		Pattern: "PUT /api/brand/{picture}", Policy: httpapi.Admin, Module: "SETTINGS",
		Name: "Upload the logo or the cover picture",
	}, http.StatusOK, r.upload)
}

type brandView struct {
	Name         string        `json:"name" doc:"Empty: guests see the name of the branch."`
	Accent       string        `json:"accent" doc:"Such as #a8321f; empty: the colours of Comanda."`
	Palette      *paletteView  `json:"palette" doc:"null without a colour."`
	Logo         *pictureView  `json:"logo"`
	Cover        *pictureView  `json:"cover"`
	WelcomeTitle catalog.Texts `json:"welcomeTitle"`
	WelcomeText  catalog.Texts `json:"welcomeText"`
	Address      string        `json:"address"`
	Phone        string        `json:"phone"`
}

type pictureView struct {
	URL    string `json:"url"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

type paletteView struct {
	Light shadesView `json:"light"`
	Dark  shadesView `json:"dark"`
}

type shadesView struct {
	Accent          string  `json:"accent" doc:"Colour of buttons."`
	Deep            string  `json:"deep" doc:"Colour of buttons under the pointer."`
	Ink             string  `json:"ink" doc:"Colour of coloured text."`
	OnAccent        string  `json:"onAccent" doc:"Colour of text on a button."`
	IsAdjusted      bool    `json:"isAdjusted" doc:"The chosen colour has too little contrast in this theme."`
	TextContrast    float64 `json:"textContrast" doc:"Contrast of text on a button, at least 4.5."`
	SurfaceContrast float64 `json:"surfaceContrast" doc:"Contrast of a button on its surface, at least 3."`
}

func paletteOf(p brand.Palette) paletteView { return paletteView{shadesOf(p.Light), shadesOf(p.Dark)} }

func shadesOf(s brand.Shades) shadesView {
	return shadesView{s.Accent, s.Deep, s.Ink, s.On, s.Moved, s.Text, s.Surface}
}

func pictureOf(p *brand.Picture, width int) *pictureView {
	if p == nil {
		return nil
	}
	return &pictureView{p.URL(width), p.Width, p.Height}
}

func viewOf(b brand.Brand) brandView {
	v := brandView{
		Name: b.Name, Accent: b.Accent, Address: b.Address, Phone: b.Phone,
		Logo: pictureOf(b.Logo, brand.LogoMark), Cover: pictureOf(b.Cover, brand.CoverLarge),
		WelcomeTitle: textsOf(b.Title), WelcomeText: textsOf(b.Text),
	}
	if p, ok := b.Palette(); ok {
		v.Palette = new(paletteOf(p))
	}
	return v
}

// textsOf returns an object for no texts too.
func textsOf(t catalog.Texts) catalog.Texts {
	if t == nil {
		return catalog.Texts{}
	}
	return t
}

func (r routes) get(ctx context.Context, _ *struct{}) (brandView, error) {
	b, err := r.service.Get(ctx)
	return viewOf(b), err
}

type paletteIn struct {
	Accent string `query:"accent" text:"exact" required:"true" maxLength:"7" doc:"Such as #a8321f."`
}

func (r routes) palette(_ context.Context, in *paletteIn) (paletteView, error) {
	p, err := brand.NewPalette(in.Accent)
	if err != nil {
		return paletteView{}, err
	}
	return paletteOf(p), nil
}

type changeIn struct {
	Body struct {
		Name         *string        `json:"name,omitempty" text:"line" maxLength:"60"`
		Accent       *string        `json:"accent,omitempty" text:"exact" maxLength:"7" doc:"Such as #a8321f; empty removes it."`
		WelcomeTitle *catalog.Texts `json:"welcomeTitle,omitempty" text:"line" doc:"By locale, each at most 80 characters; replaces all texts."`
		WelcomeText  *catalog.Texts `json:"welcomeText,omitempty" text:"lines" doc:"By locale, each at most 280 characters; replaces all texts."`
		Address      *string        `json:"address,omitempty" text:"line" maxLength:"200"`
		Phone        *string        `json:"phone,omitempty" text:"line" maxLength:"30"`
	}
}

func (r routes) change(ctx context.Context, in *changeIn) (brandView, error) {
	b, err := r.service.Change(ctx, authz.ActorOf(ctx), brand.Change{
		Name: in.Body.Name, Accent: in.Body.Accent, Address: in.Body.Address, Phone: in.Body.Phone,
		Title: in.Body.WelcomeTitle, Text: in.Body.WelcomeText,
	})
	return viewOf(b), err
}

func (r routes) upload(req *http.Request, raw []byte) (any, error) {
	by := authz.ActorOf(req.Context())
	if !by.AllBranches {
		return nil, authz.ErrForbidden
	}
	b, err := r.service.SetPicture(req.Context(), by, brand.Slot(req.PathValue("picture")), raw)
	return viewOf(b), err
}

type removeIn struct {
	Picture string `path:"picture" text:"exact" enum:"logo,cover"`
}

func (r routes) remove(ctx context.Context, in *removeIn) (brandView, error) {
	b, err := r.service.RemovePicture(ctx, authz.ActorOf(ctx), brand.Slot(in.Picture))
	return viewOf(b), err
}
