"""Writes golden.json: what Python's jinja2 makes of the templates below.

    python3 golden.py > golden.json        (jinja2 3.1.6, json of Python 3)

The environment is the one that chat templates are written for: the immutable
sandbox with trim_blocks, lstrip_blocks, loop controls and the tojson filter,
raise_exception and strftime_now of the transformers package.
"""

import datetime
import json

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

VARS = {
    "s": "Hello <b> wörld's \"x\"", "e": "", "sp": "  a b\n c \t", "n": 3, "z": 0,
    "neg": -7, "f": 2.5, "big": 12345678901234567890, "tiny": 1e-7, "huge": 1e22,
    "l": [3, 1, 2], "ls": ["b", "A", "c"], "none": None, "t": True,
    "d": {"b": 1, "a": [1, {"k": None}], "items": "I"},
    "m": [{"role": "user", "content": "Hi </think> x"},
          {"role": "assistant", "content": "yo", "tool_calls": [{"id": "1"}]}],
    "u": "ab😀é", "lines": "a\nb\r\nc\n", "think": "<think>\nwhy\n</think>\n\nanswer",
}

CASES = {
    # White space: lstrip_blocks, trim_blocks, the signs, the last newline.
    "white space": [
        "a\n  {% if t %}\n  b\n  {% endif %}\nc",
        "a  {% if t %}  b  {% endif %}  c",
        "\t {% if t %}x{% endif %}",
        "a\n \t{# c #}\nb",
        "a\n  {{ n }}\nb",
        "a\n  {%+ if t %}\n  b\n  {%+ endif +%}\nc",
        "a \n {%- if t -%} \n b \n {%- endif -%} \n c",
        "a \n {{- n -}} \n b",
        "a \n {#- c -#} \n b",
        "{% if t %}\n\n\nx\n{% endif %}\n\n",
        "x\n", "x\n\n", "x\r\n", "\n", "", "{{ n }}\n", "{% if t %}x{% endif %}\n",
        "{% set x = 1 %}  {% set y = 2 %}\n  {% set z = 3 %}|",
        "{% for i in l %}\n  {% if i == 1 %}\n    one\n  {% endif %}\n{% endfor %}\n",
        "a\r\n  {% if t %}\r\n  b\r\n  {% endif %}\r\nc",
        "{% raw %}\n  {{ x }}\n{% endraw %}\nb",
        "a\n  {%- raw -%}  {% if %}  {%- endraw -%}\n b",
        "a\n  {% raw %}  {% if %}\n  {% endraw %}\n b",
        "{{ '{%' }}{{ '}}' }}{{ {'a': {'b': 1}} }}",
        "{{ 'x\ny' }}|{{ \"a\\tb\\\\n\\u00e9\\x41\\101\\q\" }}",
        "a {# {% if %} #} b{#--#}c{#-#}d",
        "{{+1}}|{{-1}}|{{ -1 }}",
    ],
    "loops": [
        "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}"
        "{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
        "{% for i in l %}{% for j in ls %}{% if j == 'A' %}{% break %}{% endif %}"
        "{{ i }}{{ j }}{% endfor %};{% endfor %}",
        "{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}"
        "{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}",
        "{% for i in l %}{{ loop.previtem }}<{{ loop.nextitem }} {% endfor %}",
        "{% for i in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(i > 1) }}{% endfor %}",
        "{% for i in l if i > 1 %}{{ loop.index }}:{{ i }}{% endfor %}",
        "{% for i in [] %}x{% else %}none{% endfor %}{% for i in undef %}x{% endfor %}",
        "{% for k, v in d.items() %}{{ k }}={{ v }},{% endfor %}",
        "{% for k in d %}{{ k }}{% endfor %}{% for c in u %}[{{ c }}]{% endfor %}",
        "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
        "{% set x = 0 %}{% for i in l %}{{ x }}{% set x = i %}{% endfor %}{{ x }}",
        "{% set ns = namespace(x=0, y='') %}{% for i in l %}{% set ns.x = ns.x + i %}"
        "{% set ns.y = ns.y ~ i %}{% endfor %}{{ ns.x }}{{ ns.y }}",
        "{% for i in range(10, 0, -3) %}{{ i }} {% endfor %}{{ range(3)|list }}",
        "{% for i in l %}{% set x %}{{ i }}{% if i == 1 %}{% endif %}{% endset %}{{ x }}{% endfor %}",
        "{% break %}", "{% for i in l %}{% macro f() %}{% break %}{% endmacro %}{% endfor %}",
        "{% for i in none %}{% endfor %}", "{% for a, b in l %}{% endfor %}", "{{ range(10**9) }}",
    ],
    "blocks": [
        "{% macro f(a, b='B') %}<{{ a }}{{ b }}>{% endmacro %}{{ f(1) }}{{ f(1, 2) }}{{ f(b=3) }}",
        "{% macro f() %}{{ n }}{% endmacro %}{% set n = 9 %}{{ f() }}",
        "{% macro f(i) %}{{ i }}{% if i > 0 %}{{ f(i - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
        "{% macro f(x) %}({{ caller(x) }}){% endmacro %}{% call(y) f(2) %}[{{ y }}{{ s }}]{% endcall %}",
        "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}",
        "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(c=2) }}",
        "{% set x %}a{{ n }}{% endset %}[{{ x }}]{% set y | upper | trim %} q {% endset %}[{{ y }}]",
        "{% set a, b = 1, 'x' %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}",
        "{% filter upper | replace('L', 'l') %}abc {{ s }}{% endfilter %}",
        "{% with a = n, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a }}",
        "{% if z %}a{% elif none %}b{% elif n > 2 %}c{% else %}d{% endif %}",
        "{% set x = 1 %}{% if t %}{% set x = 2 %}{% endif %}{{ x }}",
        "{% if t %}", "{% endif %}", "{% else %}", "{% foo %}", "{% if %}x{% endif %}",
        "{{ 1 + }}", "{{ (1 }}", "{{ 1) }}", "{{ a b }}", "{{ 'x }}", "{{ x", "{# x", "{% raw %}x",
        "{{ $ }}", "{{ 1 is }}", "{{ 1 | }}", "{% set true = 1 %}", "{% set l.x = 1 %}",
        "{% include 'x' %}", "{% for i in l recursive %}{{ i }}", "{{ 017 }}", "{{ 1abc }}",
    ],
    "expressions": [
        "{{ 1 + 2 * 3 ** 2 // 4 - 5 % 3 / 2 }}", "{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ -7.5 // 2 }}",
        "{{ 2 ** -1 }} {{ 2 ** 10 }} {{ 1 / 2 }} {{ 4 / 2 }} {{ 1e3 }} {{ 0x1F }} {{ 1_000 }}",
        "{{ big }} {{ tiny }} {{ huge }} {{ f }} {{ 100.0 }} {{ 1e16 }} {{ 123456.789 }} {{ 0.0001 }}",
        "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 == true }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }}",
        "{{ n ~ f ~ none ~ t ~ l }}", "{{ 'a' 'b' ~ 'c' }}", "{{ 'ab' * 3 }}{{ [1] * 2 }}{{ 2 * 'x' }}",
        "{{ not t }} {{ not z and t }} {{ z or e or 'x' }} {{ n and s }} {{ not 1 == 2 }}",
        "{{ 1 in l }} {{ 9 not in l }} {{ 'b' in s }} {{ 'b' in d }} {{ 'x' in undef }} {{ not 1 in l }}",
        "{{ 'yes' if t else 'no' }} {{ 'yes' if z }} {{ ('a' if z else 'b') ~ 'c' }}",
        "{{ 'a' if z else 'b' if z else 'c' }}",
        "{{ l[0] }} {{ l[-1] }} {{ l[9] }} {{ d['b'] }} {{ d.b }} {{ d.nope }} {{ d.a[1].k }} {{ u[2] }}",
        "{{ l[1:] }} {{ l[:-1] }} {{ l[::-1] }} {{ l[::2] }} {{ l[5:] }} {{ l[-2:] }} {{ l[2:0:-1] }}",
        "{{ s[1:4] }}|{{ s[::-1] }}|{{ u[1:3] }}|{{ u[::2] }}|{{ s[-3:] }}|{{ e[1:] }}",
        "{{ d['items'] }} {{ d.items() | list }} {{ d.keys() | list }} {{ d.get('a') }} {{ d.get('q', 5) }}",
        "{{ d.get('q') }} {{ m[0].role }} {{ m[0]['content'] }} {{ m[1].tool_calls[0].id }}",
        "{{ [1, 'a', none, true, 2.5, {'k': [()]}, (1,), undef] }}", "{{ {'a': 1, 2: 'b', none: 3}[2] }}",
        "{{ dict(a=1, b='x') }} {{ dict({'q': 1}, r=2) }}", "{{ 'a\\'b' }} {{ ['a\\'b', \"c\", '\"\\n'] }}",
        "{{ undef }}|{{ none }}|{{ d.x }}|{{ none.x }}", "{{ d.x.y }}", "{{ undef.x }}", "{{ undef + 1 }}", "{{ 'a' + none }}",
        "{{ 'a' + 1 }}", "{{ 1 + 'a' }}", "{{ none + 'a' }}", "{{ 1 < 'a' }}", "{{ n() }}", "{{ undef() }}",
        "{{ 'a' in none }}", "{{ 1 in 'a' }}", "{{ 1 // 0 }}", "{{ [] + () }}", "{{ l.append(4) }}",
        "{{ '%s has %d of %.2f%% %r' % ('x', 3, 1.5, 'q') }} {{ '%s' % l }} {{ '%05d|%-3d|%x' % (42, 1, 255) }}",
        "{{ m[0] == m[0] }} {{ m[0] == m[1] }} {{ l == [3, 1, 2] }} {{ (1, 2) == [1, 2] }} {{ none == undef }}",
        "{{ raise_exception('No: ' ~ n) }}", "{{ strftime_now('%Y-%m-%d %d %b %Y %B %A %-d %H:%M:%S %j %y %p %I %%') }}",
        "{% set j = joiner('; ') %}{{ j() }}a{{ j() }}b{% set c = cycler(1, 2) %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}",
        "{{ strftime_now is defined }} {{ raise_exception is callable }} {{ foo is defined }}",
    ],
    "filters": [
        "{{ sp | trim }}|{{ s | trim('H') }}|{{ s | upper }}|{{ s | lower }}|{{ s | title }}|{{ s | capitalize }}",
        "{{ s | length }} {{ u | length }} {{ l | length }} {{ d | count }} {{ undef | length }}",
        "{{ undef | default('D') }} {{ e | default('D') }} {{ e | default('D', true) }} {{ none | d('x') }} {{ undef | d }}",
        "{{ l | first }} {{ l | last }} {{ s | first }} {{ u | last }} {{ [] | first }}",
        "{{ l | join }} {{ l | join(', ') }} {{ m | join('|', attribute='role') }}",
        "{{ l | sort }} {{ ls | sort }} {{ ls | sort(case_sensitive=true) }} {{ l | sort(reverse=true) }}",
        "{{ m | sort(attribute='role') | map(attribute='role') | list }}",
        "{{ l | reverse | list }} {{ s | reverse }} {{ [1, 1.0, true, 2] | unique | list }} {{ ['a', 'A'] | unique | list }}",
        "{{ ls | map('upper') | list }} {{ m | map(attribute='role') | join(',') }} {{ m | map(attribute='tool_calls', default='-') | list }}",
        "{{ [m[1]] | map(attribute='tool_calls.0.id') | list }} {{ ['1', '2'] | map('int') | sum }}",
        "{{ l | select('odd') | list }} {{ l | reject('gt', 1) | list }} {{ [0, 1, ''] | select | list }}",
        "{{ m | selectattr('role', 'equalto', 'user') | list }} {{ m | rejectattr('tool_calls', 'defined') | list }}",
        "{{ m | selectattr('tool_calls') | list | length }} {{ (m | selectattr('role', 'eq', 'x')) is defined }}",
        "{% if m | selectattr('role', 'eq', 'x') %}a generator is true{% endif %}",
        "{{ d | items | list }} {{ d | dictsort }} {{ d | dictsort(false, 'key', true) | map('first') | list }} {{ undef | items | list }}",
        "{{ s | replace('l', 'L') }} {{ s | replace('l', 'L', 1) }} {{ 'aaa' | replace('a', '') }}",
        "{{ '3' | int }} {{ '3.7' | int }} {{ 'x' | int }} {{ 'x' | int(5) }} {{ f | int }} {{ 'ff' | int(0, 16) }} {{ big | int }}",
        "{{ '3.5' | float }} {{ 'x' | float }} {{ 3 | float }} {{ 2.5 | round }} {{ 3.14159 | round(2) }} {{ 2.1 | round(method='ceil') }} {{ neg | abs }}",
        "{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent(1, blank=true) }}|{{ 'a\nb' | indent('--') }}",
        "{{ l | sum }} {{ l | max }} {{ l | min }} {{ ls | max }} {{ [] | max }} {{ [0.5, 1] | sum }}",
        "{{ [1, 2, 3] | batch(2) | list }} {{ [1, 2, 3] | batch(2, 0) | list }}",
        "{{ s | wordcount }} {{ 'a-b c' | title }} {{ s | string }} {{ '<a>' | safe }} {{ l | list }} {{ u | list }}",
        "{{ '%s-%s' | format('a', 1) }} {{ m[0] | attr('role') }}", "{{ 1 | nope }}", "{{ l | join(1, 2, 3) }}",
        "{{ 's' | items | list }}", "{{ none | length }}", "{{ s | trim(foo=1) }}", "{{ {} | dictsort(by='x') }}",
        "{{ d | tojson }} {{ s | tojson }} {{ u | tojson }} {{ none | tojson }} {{ t | tojson }} {{ f | tojson }} {{ big | tojson }}",
        "{{ d | tojson(indent=2) }} {{ [] | tojson(indent=4) }} {{ {'a': {}} | tojson(indent=0) }}",
        "{{ d | tojson(separators=(',', ':')) }} {{ d | tojson(sort_keys=true) }} {{ u | tojson(ensure_ascii=true) }}",
        "{{ '\\u0000\\u001f\\u007f\\u2028</script>&' | tojson }} {{ {1: 2, none: 3, true: 4} | tojson }}",
        "{{ 1e22 | tojson }} {{ 0.1 | tojson }} {{ (1, 2) | tojson }} {{ tiny | tojson }}", "{{ undef | tojson }}",
    ],
    "tests": [
        "{{ n is defined }} {{ x is defined }} {{ x is undefined }} {{ d.b is defined }} {{ d.x is not defined }}",
        "{{ none is none }} {{ undef is none }} {{ e is none }} {{ s is string }} {{ n is string }}",
        "{{ n is number }} {{ t is number }} {{ f is number }} {{ n is integer }} {{ t is integer }} {{ f is float }} {{ t is boolean }}",
        "{{ d is mapping }} {{ l is mapping }} {{ l is sequence }} {{ s is sequence }} {{ d is sequence }} {{ n is sequence }}",
        "{{ l is iterable }} {{ s is iterable }} {{ d is iterable }} {{ n is iterable }} {{ undef is iterable }} {{ none is iterable }}",
        "{{ t is true }} {{ 1 is true }} {{ z is false }} {{ false is false }} {{ n is odd }} {{ n is even }} {{ 9 is divisibleby 3 }}",
        "{{ 1 is eq 1 }} {{ 1 is ne 1 }} {{ 1 is lt 2 }} {{ 1 is ge(2) }} {{ 1 is in [1] }} {{ 'a' is equalto 'a' }} {{ none is sameas none }}",
        "{{ 'ab' is lower }} {{ 'AB' is upper }} {{ 'Ab' is lower }} {{ '1' is upper }} {{ 'upper' is filter }} {{ 'odd' is test }}",
        "{{ s is string and n is number or x is defined }} {{ not x is defined }} {{ (l | length) is odd }}",
        "{{ l is not string ~ 'x' }}", "{{ 1 is nope }}",
    ],
    "methods": [
        "{{ think.split('</think>')[-1].lstrip('\\n') }}|{{ think.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') }}",
        "{{ sp.strip() }}|{{ sp.lstrip() }}|{{ sp.rstrip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'abcab'.lstrip('ba') }}",
        "{{ sp.split() }} {{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a b  c'.split(none, 1) }}",
        "{{ 'a,b,c'.rsplit(',', 1) }} {{ ' a b c '.rsplit(none, 1) }}", "{{ 'a'.split('') }}",
        "{{ s.startswith('He') }} {{ s.endswith('x') }} {{ s.startswith(('q', 'H')) }} {{ ''.startswith('') }}",
        "{{ s.replace('l', 'L') }} {{ s.replace('l', '', 1) }} {{ 'ab'.replace('', '-') }}",
        "{{ s.find('w') }} {{ s.find('zz') }} {{ s.rfind('l') }} {{ s.index('w') }} {{ s.count('l') }} {{ u.find('é') }}",
        "{{ s.upper() }} {{ s.lower() }} {{ s.title() }} {{ s.capitalize() }} {{ s.swapcase() }} {{ 'straße'.upper() }}",
        "{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ ''.splitlines() }} {{ 'a\\n\\n'.splitlines() }}",
        "{{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'a'.partition('=') }} {{ 'a'.rpartition('=') }}",
        "{{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }} {{ 'abc'.removeprefix('x') }}",
        "{{ '12'.isdigit() }} {{ 'ab'.isalpha() }} {{ 'a1'.isalnum() }} {{ ' '.isspace() }} {{ ''.isdigit() }} {{ 'AB'.isupper() }}",
        "{{ '-'.join(['a', 'b']) }} {{ '{} {}'.format(1, 2) }} {{ '{1}{0}'.format(1, 2) }} {{ '{} {a} {{}}'.format(1, a=2) }}",
        "{{ '-'.join([1]) }}", "{{ 'a'.index('b') }}", "{{ 'a'.nope() }}", "{{ 'a'.startswith(1) }}",
        "{{ l.index(1) }} {{ l.count(1) }} {{ d.values() | list }}", "{{ l.index(9) }}", "{{ d.update({}) }}",
    ],
}


class Raised(Exception):
    pass


def raise_exception(message):
    raise Raised(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent,
                      separators=separators, sort_keys=sort_keys)


def main():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: datetime.datetime(2026, 1, 15).strftime(f)
    out = []
    for group, templates in CASES.items():
        for source in templates:
            case = {"group": group, "source": source}
            try:
                case["text"] = env.from_string(source).render(**VARS)
            except Raised as x:
                case["raises"] = str(x)
            except Exception as x:
                case["error"] = f"{type(x).__name__}: {x}"
            out.append(case)
    print(json.dumps({"vars": VARS, "cases": out}, ensure_ascii=False, indent=1))


main()
