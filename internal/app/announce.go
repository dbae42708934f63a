package app

import (
	"context"
	"fmt"

	"comanda/internal/httpapi"
	"comanda/internal/visit"
)

// Link is a table and how guests reach it.
type Link struct {
	BranchID int64  `json:"branchId,string"`
	TableID  int64  `json:"tableId,string"`
	Label    string `json:"label"`
	QRToken  string `json:"qrToken"`
	URL      string `json:"url"`
}

// Links lists the tables of a branch, of all branches when branch is 0, with their codes.
func Links(
	ctx context.Context, c Config, tables func(context.Context, int64) ([]visit.Table, error), branch int64,
) ([]Link, error) {
	all, err := tables(ctx, branch)
	if err != nil {
		return nil, err
	}
	links := make([]Link, 0, len(all))
	for _, t := range all {
		if t.QR != "" {
			links = append(links, Link{t.BranchID, t.ID, t.Label, t.QR, c.PublicURL + "/m/" + t.QR})
		}
	}
	return links, nil
}

// announce prints where the server is, and in the demo the link of a table. By then the server serves: a link that cannot
// be read, such as when ctx has ended already, does not end it.
func (k *Core) announce(ctx context.Context, c Config, o ServeOptions, s *httpapi.Server) {
	if s == nil || o.Out == nil {
		return
	}
	fmt.Fprintf(o.Out, "Comanda listens on %s\n", s.Addr())
	if err := k.announceAccess(ctx, o.Out, o.Demo); err != nil {
		k.Log.WarnContext(ctx, "how to get in could not be told", "err", err)
	}
	if !o.Demo {
		return
	}
	links, err := Links(ctx, c, k.Floor.Plan.Tables, 0)
	if err != nil {
		k.Log.WarnContext(ctx, "the tables' links could not be read", "err", err)
	}
	if len(links) > 0 {
		fmt.Fprintf(o.Out, "Guest link    %s\n", links[0].URL)
	}
	announceWeb(o.Out, c.PublicURL)
	fmt.Fprintf(o.Out, "API           %s/docs\n", c.PublicURL)
	fmt.Fprintln(o.Out, "All tables    comanda tables")
}
