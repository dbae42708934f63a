package app

import (
	"context"
	"errors"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account/accounthttp"
	"comanda/internal/analytics/analyticshttp"
	"comanda/internal/audit/audithttp"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/brand"
	"comanda/internal/brand/brandhttp"
	"comanda/internal/cart"
	"comanda/internal/cart/carthttp"
	"comanda/internal/catalog/cataloghttp"
	"comanda/internal/document/documenthttp"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/mailing/mailinghttp"
	"comanda/internal/notice/noticehttp"
	"comanda/internal/ordering/orderinghttp"
	"comanda/internal/price/pricehttp"
	"comanda/internal/report/reporthttp"
	"comanda/internal/settings/settingshttp"
	"comanda/internal/site"
	"comanda/internal/stock/stockhttp"
	"comanda/internal/system"
	"comanda/internal/system/systemhttp"
	"comanda/internal/visit"
	"comanda/internal/visit/visithttp"
)

// newServer creates the HTTP server with the routes of all packages. Only SQL is a critical check: without Redis or
// complete documents, requests are slower and still answered (I16).
func (k *Core) newServer(version string, log *slog.Logger, reg *prometheus.Registry) (*httpapi.Server, error) {
	s, err := httpapi.New(k.house.Load().config.http(version), log, reg)
	if err != nil {
		return nil, err
	}
	k.register(s.API())
	if err := k.registerWeb(s.API()); err != nil {
		return nil, err
	}
	s.SetLimiter(k.Limits)
	s.BeforeChanges(awaitClock(k.DB.Clock()))
	s.Check("sql", true, k.DB.Ping)
	s.Check("redis", false, func(context.Context) error {
		if !k.Redis.Up() {
			return errRedisDown
		}
		return nil
	})
	s.Check("redis_memory", false, k.checkRedisMemory)
	s.Check("settings", false, k.checkSettings)
	k.onSettings(func(h *houseSettings) error {
		// Only commands read the file, so that a folder that is not writable does not keep settings from being applied.
		if err := h.config.writeURL(); err != nil {
			k.Log.Warn("could not write the public URL for commands", "err", err)
		}
		return s.SetPublicURL(h.config.PublicURL)
	})
	setHouse := func(h *houseSettings) error {
		style := template.CSS(h.brand.Style()) //nolint:gosec // made of validated colours
		s.SetHouse(httpapi.House{Name: h.brand.Name, Logo: h.brand.Logo.URL(brand.IconSmall), Style: style})
		return nil
	}
	_ = setHouse(k.house.Load())
	k.onSettings(setHouse)
	s.Check("documents", false, k.checkDocuments)
	s.Notified = k.notified
	return s, nil
}

// checkRedisMemory fails when a server has little memory left. It uses the last heartbeat, so it needs no round trip. There
// is nothing to check for an embedded store, and while Redis does not answer another check reports that.
func (k *Core) checkRedisMemory(context.Context) error {
	full := k.Redis.LastMemory().Fullest()
	if !k.Redis.Up() || full.Share() < system.FullShare {
		return nil
	}
	return fault.Newf(fault.Unavailable, "redis_full",
		"Redis uses %.0f %% of its memory. When it is full it refuses changes. Please raise maxmemory.", 100*full.Share())
}

var errRedisDown = errors.New("redis is out of reach; orders go on without it")

// register adds the routes of all packages but the web pages. routeTable calls it without stores, so it must not use
// them.
func (k *Core) register(a *httpapi.API) {
	cataloghttp.RegisterGuest(a, k.LiveMenus, k.Floor)
	cataloghttp.RegisterPublicBranches(a, k.Branches.Store, k.DB.Now)
	cataloghttp.RegisterLive(a, k.LiveMenus, guestBranch{k.Guests, k.SharedCarts})
	cataloghttp.RegisterStaff(a, k.CatalogServices)
	documenthttp.Register(a, k.Documents, k.Cache, k.DB.Now)
	accounthttp.RegisterMember(a, k.Accounts, func() bool { return k.house.Load().config.encrypted() })
	accounthttp.RegisterGoogle(a, k.google(), k.Accounts, func() bool { return k.house.Load().config.encrypted() })
	accounthttp.RegisterAdmin(a, k.Administration)
	accounthttp.RegisterFlags(a, k.Trust)
	mailinghttp.Register(a, k.Segments, k.Mailings)
	authzhttp.RegisterRoles(a, k.Roles)
	audithttp.Register(a, k.AuditLog)
	authzhttp.RegisterOwnPermissions(a, k.Roles)
	accounthttp.RegisterSetup(a, k.Setup)
	visithttp.RegisterGuest(a, k.Landing)
	visithttp.RegisterStaff(a, k.Floor, k.publicURL)
	visithttp.RegisterCalls(a, k.Floor)
	orderinghttp.Register(a, k.Orders, k.Guests, k.OrderReader, k.Ledger)
	orderinghttp.RegisterLists(a, k.OrderReader)
	orderinghttp.RegisterBoard(a, k.Boards)
	orderinghttp.RegisterVouchers(a, k.Vouchers)
	carthttp.Register(a, k.Carts)
	carthttp.RegisterGuests(a, k.SharedCarts, guestCarts{k.Guests})
	reporthttp.Register(a, k.Reports)
	analyticshttp.Register(a, k.Analytics, k.Activity, viewers{k.Guests})
	noticehttp.Register(a, k.Notices, noticeGuests{k.Guests}, k.noticeBranches, k.pushKey.public)
	stockhttp.RegisterInventory(a, k.stockServices())
	stockhttp.RegisterStaff(a, k.stockServices())
	systemhttp.Register(a, k.systemService())
	settingshttp.Register(a, k.Settings)
	brandhttp.Register(a, k.Brand)
	pricehttp.Register(a)
	site.Register(a, k.site())
	if k.gateways != nil {
		k.gateways.register(a, k)
	}
}

// guestBranch implements cataloghttp.Guests: it finds a guest's branch, and the version of the table's shared cart.
type guestBranch struct {
	*visit.Guests
	carts *cart.SharedService
}

// BranchOf implements cataloghttp.Guests.
func (g guestBranch) BranchOf(ctx context.Context, token string) (branch int64, key string, err error) {
	guest, err := g.Resolve(ctx, token)
	return guest.BranchID, guest.TokenHash, err
}

// CartVersion implements cataloghttp.Guests.
func (g guestBranch) CartVersion(ctx context.Context, token string) (int64, error) {
	guest, err := g.Resolve(ctx, token)
	if err != nil {
		return 0, err
	}
	return g.carts.Version(ctx, guest.VisitID)
}

// FollowCart implements cataloghttp.Guests.
func (g guestBranch) FollowCart(ctx context.Context, token string, changed chan struct{}) (leave func(), err error) {
	guest, err := g.Resolve(ctx, token)
	if err != nil {
		return nil, err
	}
	return g.carts.Follow(guest.VisitID, changed), nil
}

// guestCarts implements carthttp.GuestFinder.
type guestCarts struct{ *visit.Guests }

// Guest implements carthttp.GuestFinder.
func (g guestCarts) Guest(ctx context.Context, token string) (cart.Guest, error) {
	guest, err := g.Resolve(ctx, token)
	return cart.Guest{Branch: guest.BranchID, VisitID: guest.VisitID, Hash: guest.ShortHash()}, err
}

// debugServer serves profiles of the process on a separate loopback address, because profiles reveal internals.
type debugServer struct {
	listen string
	server *http.Server
}

// Start listens and serves in a goroutine.
func (d *debugServer) Start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.listen)
	if err != nil {
		return listenError("COMANDA_DEBUG_LISTEN", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	// The server has no write time-out, because collecting a profile takes as long as its caller requests.
	d.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = d.server.Serve(l) }() // ends with Stop; nothing depends on its error
	return nil
}

// Stop closes the server and any profile in progress.
func (d *debugServer) Stop(context.Context) error {
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}
