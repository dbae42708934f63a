package app

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/demo"
	"comanda/internal/httpapi"
	"comanda/internal/payment"
	"comanda/internal/seq"
	"comanda/internal/site"
	"comanda/internal/visit"
	"comanda/internal/visit/visithttp"
	"comanda/internal/web"
)

// registerWeb adds the guests' app and the staff's console, if this binary contains them, and the images of dishes.
func (k *Core) registerWeb(a *httpapi.API) error {
	if err := web.Pictures(a, demo.Pictures(), k.images); err != nil {
		return err
	}
	built, ok := web.Built()
	if !ok {
		visithttp.RegisterScan(a)
		return nil
	}
	app, err := web.New(built, k.boot(k.house.Load()))
	if err != nil {
		return err
	}
	app.Register(a)
	k.onSettings(func(h *houseSettings) error { return app.SetBoot(k.boot(h)) })
	return nil
}

// boot returns the data of the apps' pages.
func (k *Core) boot(h *houseSettings) web.Boot {
	return web.Boot{
		Methods: h.methodNames(), Google: k.Config.Google.ClientID != "", Demo: k.Config.DemoLAN, Worker: k.Config.GuestWorker,
		Brand: pageBrand(h.brand),
	}
}

// pageBrand returns the brand in the form that pages contain.
func pageBrand(b brand.Brand) web.PageBrand {
	p := web.PageBrand{
		Name: b.Name, Title: textsByTag(b.Title), Text: textsByTag(b.Text), Style: b.Style(),
		IconSmall: b.Logo.URL(brand.IconSmall), IconLarge: b.Logo.URL(brand.IconLarge),
	}
	if shades, ok := b.Palette(); ok {
		p.Accent = shades.Light.Accent
	}
	if l := b.Logo; l != nil {
		p.Logo = &web.PagePicture{URL: l.URL(brand.LogoMark), Width: l.Width, Height: l.Height}
	}
	if c := b.Cover; c != nil {
		p.Cover = &web.PagePicture{URL: c.URL(brand.CoverSmall), Large: c.URL(brand.CoverLarge), Width: c.Width, Height: c.Height}
	}
	return p
}

func textsByTag(t catalog.Texts) map[string]string {
	all := make(map[string]string, len(t))
	for l, s := range t {
		all[string(l)] = s
	}
	return all
}

// site returns the public pages of the restaurant.
func (k *Core) site() *site.PublicPages {
	_, apps := web.Built()
	return &site.PublicPages{
		Branches: func(ctx context.Context) ([]catalog.Branch, error) { return k.Branches.Store.Branches(ctx) },
		Menu: func(ctx context.Context, branch int64) (*catalog.Snapshot, error) {
			menu, err := k.Menus.Active(ctx, branch)
			if err != nil {
				return nil, err
			}
			return menu.Published(), nil // the page shows all menus at any hour
		},
		BySlug: catalogsql.New(k.DB, nil).BranchBySlug,
		Brand:  func() brand.Brand { return k.house.Load().brand },
		URL:    k.publicURL, HasShop: apps, Now: func() time.Time { return k.DB.Now() }, Cache: k.Cache,
	}
}

// methodNames returns the names of the payment methods, as guests see them.
func (h *houseSettings) methodNames() []string {
	methods := append(h.merchants.methods(h.config.SandboxPayments), payment.Counter)
	return seq.Map(methods, func(m payment.Method) string { return string(m) })
}

// appPage returns the URL of a page of the guests' app, or an empty string if there is no app.
func appPage(path string) string {
	if _, ok := web.Built(); !ok {
		return ""
	}
	return path
}

// announceWeb prints the address of the staff's console, or that this binary has no web pages.
func announceWeb(out io.Writer, publicURL string) {
	if _, ok := web.Built(); !ok {
		fmt.Fprintln(out, "Guest app     not in this binary: install Node.js 20.19 or newer and run make run")
		return
	}
	fmt.Fprintf(out, "Console       %s%s\n", publicURL, web.ConsolePath)
}

// Link is a table and the address that guests open.
type Link struct {
	BranchID int64  `json:"branchId,string"`
	TableID  int64  `json:"tableId,string"`
	Label    string `json:"label"`
	Section  string `json:"section,omitempty"`
	QRToken  string `json:"qrToken"`
	URL      string `json:"url"`
}

// Links returns the links of the tables that have codes.
func Links(c Config, all []visit.Table) []Link {
	links := make([]Link, 0, len(all))
	for _, t := range all {
		if t.QR != "" {
			links = append(links, Link{t.BranchID, t.ID, t.Label, t.Section, t.QR, c.PublicURL + "/m/" + t.QR})
		}
	}
	return links
}

// urlFile is the file in the data folder to which a server writes its public URL. A command with the same data folder
// reads it, because the command's own settings may differ from the server's.
const urlFile = "public-url"

// writeURL writes the server's public URL to the data folder. The rename is atomic, so a command that reads the file at
// the same moment finds a complete address.
func (c Config) writeURL() error {
	file := filepath.Join(c.DataDir, urlFile)
	if err := os.WriteFile(file+".new", []byte(c.PublicURL+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// AsServed returns the configuration with the public URL of the last server that used the data folder, unless a URL is
// set. It reports whether it found such a URL.
func (c Config) AsServed() (Config, bool) {
	if !c.DerivedURL {
		return c, false
	}
	noted, err := os.ReadFile(filepath.Join(c.DataDir, urlFile))
	u, bad := url.Parse(strings.TrimSpace(string(noted)))
	if err != nil || bad != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return c, false
	}
	c.PublicURL = u.String()
	return c, true
}

// announce prints the server's address, how to get access, and in the demo the accounts and the link of a table. The server
// already serves, so it does not stop if the link cannot be read, for example because ctx has ended.
func (k *Core) announce(ctx context.Context, c Config, o ServeOptions, s *httpapi.Server, accounts string) {
	if s == nil {
		return
	}
	if err := c.writeURL(); err != nil {
		k.Log.WarnContext(ctx, "could not write the public URL for commands", "err", err)
	}
	if o.Out == nil {
		return
	}
	fmt.Fprintf(o.Out, "Comanda listens on %s\n", s.Addr())
	if !o.Demo {
		if err := k.announceAccess(ctx, o.Out); err != nil {
			k.Log.WarnContext(ctx, "could not print how to log in", "err", err)
		}
		return
	}
	fmt.Fprint(o.Out, accounts)
	all, err := k.Floor.Store.Tables(ctx, 0)
	if err != nil {
		k.Log.WarnContext(ctx, "the tables' links could not be read", "err", err)
	}
	if links := Links(c, all); len(links) > 0 {
		fmt.Fprintf(o.Out, "Guest link    %s\n", links[0].URL)
	}
	announceWeb(o.Out, c.PublicURL)
	fmt.Fprintf(o.Out, "API           %s/docs\n", c.PublicURL)
	fmt.Fprintln(o.Out, "All tables    comanda tables")
}
