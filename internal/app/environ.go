package app

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// settingsIn returns the variables of an environment that configure the server, by name. It leaves out the variables
// of Kubernetes: unknown names are refused, so a Kubernetes service named comanda would keep every pod from starting.
func settingsIn(environ []string) map[string]string {
	values := map[string]string{}
	for _, kv := range environ {
		if name, v, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, "COMANDA_") {
			values[name] = v
		}
	}
	services := servicesIn(values)
	maps.DeleteFunc(values, func(name, _ string) bool { return notServerVariable(name) || injected(name, services) })
	return values
}

// notServerVariable reports whether a variable belongs to commands or tests, not to the server.
func notServerVariable(name string) bool {
	return strings.HasPrefix(name, "COMANDA_TEST_") || name == "COMANDA_PASSWORD" || name == "COMANDA_DEMO_PASSWORD"
}

// servicesIn returns the prefixes of Kubernetes services among the variables: COMANDA for a service named comanda,
// COMANDA_REDIS for comanda-redis. Each has variables with the host and the port of the service
// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
func servicesIn(values map[string]string) (prefixes []string) {
	for name, host := range values {
		prefix, ok := strings.CutSuffix(name, "_SERVICE_HOST")
		if _, port := values[prefix+"_SERVICE_PORT"]; ok && port && net.ParseIP(host) != nil {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// injectedSuffix matches the suffixes that Kubernetes appends to the prefix of a service.
var injectedSuffix = regexp.MustCompile(
	`^_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// injected reports whether a variable was set by Kubernetes for one of these services. Settings never match.
func injected(name string, services []string) bool {
	if slices.ContainsFunc(variables, func(s setting) bool { return s.Name == name }) {
		return false
	}
	return slices.ContainsFunc(services, func(prefix string) bool {
		suffix, ok := strings.CutPrefix(name, prefix)
		return ok && injectedSuffix.MatchString(suffix)
	})
}

// unknown returns the error about a name that is not a setting. It names the nearest setting if a few typing errors
// lead from one to the other.
func unknown(name string) error {
	distance := func(s setting) int { return levenshtein.ComputeDistance(name, s.Name) }
	best := slices.MinFunc(variables, func(a, b setting) int { return distance(a) - distance(b) })
	if distance(best) > maxTypos {
		return fmt.Errorf("%s is not a setting", name)
	}
	return fmt.Errorf("%s is not a setting; the nearest is %s", name, best.Name)
}

// maxTypos is the largest edit distance from a setting at which a name probably means it.
const maxTypos = 4
