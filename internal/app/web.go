package app

import (
	"fmt"
	"io"

	"comanda/internal/demo"
	"comanda/internal/httpapi"
	"comanda/internal/payment"
	"comanda/internal/visit/visithttp"
	"comanda/internal/web"
)

// registerWeb adds the guests' app and the staff's console, as far as this binary has it, and pictures of dishes.
func (k *Core) registerWeb(a *httpapi.API) error {
	if err := web.Pictures(a, demo.Pictures(), k.photos); err != nil {
		return err
	}
	built, ok := web.Built()
	if !ok {
		visithttp.Scan(a)
		return nil
	}
	app, err := web.New(built, web.Boot{Methods: k.methods(), Demo: k.Config.DemoLAN})
	if err != nil {
		return err
	}
	app.Register(a)
	return nil
}

// methods are the ways to pay that guests are shown.
func (k *Core) methods() []string {
	var all []string
	if k.tills != nil {
		for _, m := range k.tills.methods(k.Config.SandboxPayments) {
			all = append(all, string(m))
		}
	}
	return append(all, string(payment.Counter))
}

// appPage is an address of the guests' app; empty where there is no app.
func appPage(path string) string {
	if _, ok := web.Built(); !ok {
		return ""
	}
	return path
}

// announceWeb says where the staff's console is, or that there is nothing for a browser here.
func announceWeb(out io.Writer, publicURL string) {
	if _, ok := web.Built(); !ok {
		fmt.Fprintln(out, "Guest app     not in this binary: install Node.js 20.19 or newer and run make run")
		return
	}
	fmt.Fprintf(out, "Console       %s%s\n", publicURL, web.ConsolePath)
}
