"""The scripts of all code points: sizes of ranges and numbers of scripts, compressed (Unicode's Scripts.txt).

`tests/record/ragged.py` writes it.
"""

from __future__ import annotations

RANGES = (
    "c-qBSTa#Q>6+Zj)>Fdn&Om{jx>7Joy5{8+O`xPbxNCKKjg$l%AAS6YlO7JLP2r^m%g;25ZQU*mW1yf!kmjGI&cnhK^(bDo4NcqHr",
    "&p!C1zG%7jIp6C3W^uY<0+tWo-uvv!+Iz3P_P5qPdx9Wn3kt|L3Y=gRd0sG%@)YvlNiv5vk5JGMoD@XplS93JJ5zSlkG~tpcL}P3",
    "F~Q@I^%B}<@x2AP%D7Tc5=>w&zo#Lr(c#-cuFJqQ@(RYa@qI7yRW$Z$ntK!0;@fso{RWg(my`I``TQK)1<UbWN1gV+L~sy$8O7K(",
    ">9K@5MHBT!qu&VaWz#=`3`cz&ooUPHw?O@}<_j}&-f!NF&ynn+u@C=U!&zvbvay+d^XvL6rhkt5jM7?$A){#ezny;Vd{)0X^v(6r",
    "Zyjq4Nx!U<$gJ7Xyg8%89QF}GzLgVZ+=1ojJ7V^&_k9d?CDR^ZUm?}=*;deA9w57tp}T%_6b*;)*@l?I&a>5gtL=`_J>vE{$}5bm",
    "Ia&j+tzgcigt`iyi$9O6$gchUzbxZCm7i9a`f>EloB9IjK<}~Vt`DGn26c1v&758&J^J;W1*h8e`1ZB5XJ5F%oI}y9P3tc=-z(qY",
    "I9=loQ-3}3Y3Npc)?w7EP96(W-t>L;BOk(iBeee^*uUCd1LtM!NcrIo(s_Y$%W-A0Z{L0d^R0zm_o7XGsovRP<2(I#htA)xcOCk)",
    "$+zW5FO#&MUF1VT^yPI|QC~yf8zFl=WbPJhgI)XjdDM>*w`{_Gb$=o8MTvAclELwX3{K9&4%PlP6R$8&?L~eSjq`=3v4vUlUFzfa",
    "9mO{xd@|pcD#`KR%Zy(v(^>lZTgksW(m%@_!T4!#(n_?=8olV86Ub}0Tk2Du3R6F=_IwtLS_pe~;m3W9V!MqL?<_!n#Q_{JPh4Cj",
    "ZYt9~zS!Ka;SlUjIr#{5`3CCPukm@cu!e}vHzFH5oZ*js{q6LfCyu*={N6Npa~R)xUw5N?ko0();6=fOR@(mWgQ@H%qBOq}>-6_!",
    "olCjqIL4I_SAGQR*-o6a2Is1GQt$3O#_dHujQVNBoQ`;Zh<L!uI6&<c(%lrr&}FiD>tn8mpVD^$^C0J0wz1aSmxyHFO!2bHd~R*J",
    "w{i6Gd=SY+IpNZNcf)3j(1E^3+Qx=mpZL_z^9kIkdmwWRXY9*Y2v(CW#xnTxQsM+h_NQ}y-uQ=U^WGYwSY|z)MXrxtIp$;iRw$Ml",
    "Mt$3?jbmTE%ii`LrkIg^fIp|33|}dKtVj72+16&_H+_T6Ku!*IdGduFW2+I?v<CLDiF}~yeTL*lIG+-HmD>7~-i}>5ZxdsEpQlNO",
    "I`29YQ?s6$WUtdWmlEA&)~njyB*|%$9qfjT6<Buz<2DdqsT><`Uqb7POnhC0T*Vy46J^-2+Demnav9B4C*Q1ZA+P@%zz17#{#(&j",
    "Aievw%(@<btTFy81m|e~HQ?n*=s^9*0nFba8@kT;&=%Qxf&6qGvgaV{IQ>f)Lc5;zo<6ZB`(}-mc0xxLdOs}nUC42v^+ongmN#!6",
    "^-o_C9HTxR#QLiLb2w*>dHkJzKXFR|=eG=Twd(K++{uvM!=B?V;Qz**@Xf=tKjzSq*>A_Z`_%?3<f}sB`60}&dpQJKPuA#qequev",
    "VHM(=X`}xtY}TH`I`f|?q%$dzjtZvzGV@(v-MQ2rUm@GsLNV%@T<X*BqjU57{e$2&5wJ1pt>I5Hc%Mx2s`$1YVLHcDhL1i@d{`j8",
    "R>+6w-t}$o&-`T>a8&ZU@Ft4L4r<^gtD7P65&s%b_2iZKhD-0TU-v&(;oM!y{W-|f|4OH&K9Y|2Q2d@F-s0H8<CrY=AE=*0+qERO",
    "M0cZuF+0H_UJqyJ9d|3{X~7472>aTX@o&oh6LVzq&ggZIiCs#jebR7B-u#Qxezzdrm~p*-nWw|lj`CzvH|Kj}YUb_CJo9Jr+Z?;;",
    "I#0Uvy`-{z;g1y8TuyI59#<2A??c-)g5T5LCd@i)xia9tZ(%^2%Xoul$$vZ8agjNzsLvWIr0+bfBTx0)^nSSByZlbr&8Yd8F-m;m",
    "W&a2<eB1oPQaNSw-YUSh|B_4XP4AKB3z+u^#lj7GH_aQKQ(xRMKKend=Ytfx4wF6cf5kk-AT9cTTBfxXVOL+Lw}tAUAPal*T<WW~",
    "kEML`CgwTSOy}GzL_Z}9=t$*XWy1Z!59j|@>G~SahmQ&V?rr!#8X*iqdV<wtPqE3htSAaf(z_&IIl?kRxQIRY+X243N?KBcvj14P",
    "$>TGUdfWo6O2)?|$L}=d_DJe324n9MqZf&(i^Qex5;IG}a!Hqp_5iG0B4!0alCD?+<}wi^`J~*}nBebkUG7%=o}d7%mIy4yizAk3",
    "AccR`#lm5+_@N%g2@~)c6G^#;)q+iL!8S=fb}quWut+SpTT%-rxE8oS*d^&M;j$R`cyg0dz1*Ml&h{FyFonPQK24F9T{5O+SYqkW",
    "Sv(`f;H4PlbPp*TS?-Dn8>l=l>3kxgC~0w#1zg?5J2~G{BC$qDXQ*}IlDAYXsc%4s4MgBg`OXXK$(Vf7r-`q6w~tDS#WSS%Z1CY^",
    "?o(ZDw4jfcL@enVZWr7KRFZ!ZHw7o8d?Jy5AnA1=DNRax-6Bi|k4pY%@Iaqkr!!We<3iH!0qjGe`e<eNfF6{&na5+Cwu5#R+8WTV",
    "dpfF{`Rj{LKbB~_KYIPDD5=%O5{bvbN4sn4Bp8wOh+unyYb5n3%WHp&<Q_i+z99G>aEP!m6AO|q1WyKEk=)~%E{;liG`Lq%kHf(e",
    "lBU=p=^#8Fd|A>5flnrQMAAosha`O{cvw=!ZGs!SI4|jW===iVmx5OWzY)AD*we+QCG~h3_!Mwf@Dv#QJHT@p_$u(l0dNCbJ$?Xu",
    "7dQtz3wZwg7Vv$-PX%8~@LNd-;n#$p2woOEFL=@5CBlyf;AegC^W?6puf9uC#y;TN0?!2BAbbwkpMhTpjuFlT-xS+^9ryK2g4a=M",
    "CY;qsO0o2dCBn5>%(HLx4OMd!-+P>tR571{Um3gxoCaPXSho3pWAM%!|6|P#Mr{BB^3MMS!^SnG",
)
