"""Words that end in a full stop without ending a sentence, casefolded and without their last stop.

When in doubt a sentence is not cut: two sentences read as one are still quoted whole, half a sentence is not.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    """
    mr mrs ms messrs mme mlle dr prof st ste gen col maj lt sgt cpl capt cmdr adm brig rev hon gov sen
    rep pres supt insp det mt ft vs viz cf ca approx dept univ assn fn ed eds trans orig repr illus e.g
    i.e a.k.a n.b w.r.t r.i.p c.f op.cit loc.cit resp incl excl esp misc dist attn jan feb mar apr jun
    jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri bzw z.b d.h u.a u.ä o.ä s.o s.u
    i.d.r z.t v.a m.e z.zt evtl ggf vgl sog bspw hr fr frl dipl ing hl zzgl inkl exkl geb gest jhd jh
    str abs bd bde aufl hrsg verf ff.s p.ex c.-à-d m mm m.m av n.d env hab sr sra srta d.ª dña ud uds
    ee.uu pág págs núm ej p.ej dott sig sig.ra т.е т.к т.н т.о т.п т.ч и.о н.э г гг ул пр пл пер наб стр
    см рис табл им тыс млн млрд руб коп акад проф доц д-р гр тов св ср напр обл р-н корп кв bv drs ir mw
    dhr jl blz nl m.b.t o.a d.w.z
    """
)
"""A title, an abbreviation inside a sentence: what follows belongs to it, capital letter or not."""

NEVER_BEFORE_NUMBER = _words(
    """
    no nos nr nrn num fig figs abb tab eq eqs vol vols ch chap sec secs sect art arts pt para p pp pg pl
    par ex ref refs app s z kap ziff rn rz lfd n t § ст п пп гл т с ч д № обр
    """
)
"""Before a number, a roman numeral or a single letter: `No. 5`, `Fig. A`, but `He said no. Then …`."""

SOMETIMES_LAST = _words(
    """
    etc inc ltd co corp llc plc bros jr sr esq al et.al ph.d m.d b.a m.a b.sc m.sc a.m p.m u.s u.s.a u.k
    u.n d.c usw usf gmbh cie др пр в вв est ave blvd rd sq min max hrs hr yr yrs oz lb lbs km cm kg sp
    spp var subsp
    """
)
"""May stand last: a sentence ends only before a word that clearly begins another."""

STARTERS = _words(
    """
    The This That These Those There It Its He She They We You I His Her Their Our My In On At As By For
    From To With When While After Before Since Although Though Because If But And So Yet However
    Moreover Furthermore Thus Then Also Another Other Some Many Most All Each Both One Such Today Now
    Here What Who Why How Where Is Are Was Were Did Does Do Please See Note During Until Once Only Not
    No A An Der Die Das Ein Eine Er Sie Es Wir Ich Im Am Auf Bei Nach Vor Seit Für Aber Und Doch Dies
    Diese Dieser Auch Wenn Le La Les Un Une Il Elle Ils Elles Ce Cette Ces Dans En Pour Mais Et El Los
    Las Una Este Esta Estos Pero Y Según Он Она Оно Они Мы Вы Я Это Этот Эта В На По При После Но И А
    Как Так Его Их Если Когда Для С К De Het Een Hij Zij
    """
)
"""Capitalised words that begin a sentence more often than they continue a name."""
