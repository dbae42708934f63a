package app

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"comanda/internal/httpapi"
	"comanda/internal/visit"
)

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

// announce prints the server's address, and in the demo the link of a table. The server already serves, so it does not
// stop if the link cannot be read, for example because ctx has ended.
func (k *Core) announce(ctx context.Context, c Config, o ServeOptions, s *httpapi.Server) {
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
	if err := k.announceAccess(ctx, o.Out, o.Demo); err != nil {
		k.Log.WarnContext(ctx, "could not print how to log in", "err", err)
	}
	if !o.Demo {
		return
	}
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
